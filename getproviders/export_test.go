package getproviders

// What tests of other packages than this one make.
type (
	SignedChecksums = signedChecksums
	SigningKeys     = signingKeys
	Expiry          = expiry
)

const BuiltInHost = builtInHost

// What OpenTofu lets expire, with and without its variable.
var (
	ExpiredNothing = Product{Predecessor: new(Product), NeedsUnexpired: true}.expiry()
	ExpiredAll     = Product{Predecessor: new(Product)}.expiry()
)

// WithKeys returns the signers with other keys than the embedded ones.
func (s Signers) WithKeys(keys SigningKeys) Signers {
	s.keys = &keys
	return s
}
