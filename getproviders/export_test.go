package getproviders

// Exported for the tests of other packages.
type (
	SignedChecksums = signedChecksums
	SigningKeys     = signingKeys
	Expiry          = expiry
)

const BuiltInHost = builtInHost

// What may have expired for OpenTofu, with and without its variable.
var (
	ExpiredNothing = Product{Predecessor: new(Product), NeedsUnexpired: true}.expiry()
	ExpiredAll     = Product{Predecessor: new(Product)}.expiry()
)

// WithKeys returns the signers with other keys than the embedded ones.
func (s Signers) WithKeys(keys SigningKeys) Signers {
	s.keys = &keys
	return s
}
