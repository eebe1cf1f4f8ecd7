package getproviders

// What tests of other packages than this one make.
type (
	SignedChecksums = signedChecksums
	SigningKeys     = signingKeys
	Expiry          = expiry
)

const (
	ExpiredAll     = expiredAll
	ExpiredNothing = expiredNothing
	BuiltInHost    = builtInHost
)

// WithKeys returns the signers with other keys than the embedded ones.
func (s Signers) WithKeys(keys SigningKeys) Signers {
	s.keys = &keys
	return s
}
