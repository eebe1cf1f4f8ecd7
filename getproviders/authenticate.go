package getproviders

import "slices"

// AnyHash judges a package by a list of hashes of which at least one has to
// match, as a network mirror gives them: that is LevelVerifiedChecksum, because
// nobody has signed them. Hashes of unknown schemes match nothing. An empty
// list lets nothing pass; where there are no hashes there is nothing to
// authenticate by.
type AnyHash []Hash

// Authenticate implements Authenticator. An error is a *ChecksumError. An h1
// may be that of the unpacked files or that of the archive's entries, which
// differ where an archive lists its directories.
func (a AnyHash) Authenticate(d Digests) (AuthenticationResult, error) {
	found := d.hashes()
	for _, expected := range a {
		if expected.Supported() && slices.Contains(found, expected) {
			return AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, nil
		}
	}
	return AuthenticationResult{}, &ChecksumError{Expected: slices.Clone(a), Found: found}
}

// hashes lists what is known of the package. A directory has no zh: its zero
// digest must match nothing.
func (d Digests) hashes() []Hash {
	var known []Hash
	if d.H1 != "" {
		known = append(known, d.H1)
	}
	if d.H1Archive != "" && d.H1Archive != d.H1 {
		known = append(known, d.H1Archive)
	}
	if d.SHA256 != ([32]byte{}) {
		known = append(known, ZH(d.SHA256))
	}
	return known
}
