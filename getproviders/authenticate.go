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

// Trust is the Trust of a package whose source lists these hashes, and of which
// nothing else is known. That of an empty list is zero.
func (a AnyHash) Trust() Trust {
	if len(a) == 0 {
		return Trust{}
	}
	return Trust{Authenticator: a, ExpectedSHA256: a.sha256(), ListedHashes: a.supported()}
}

func (a AnyHash) supported() []Hash {
	return slices.DeleteFunc(slices.Clone(a), func(h Hash) bool { return !h.Supported() })
}

// sha256 is the one zh of the list; zero if there is none, or more than one.
func (a AnyHash) sha256() (sum [32]byte) {
	known := false
	for _, h := range a {
		decoded, isZH := h.sha256()
		if isZH && known && decoded != sum {
			return [32]byte{}
		}
		if isZH {
			sum, known = decoded, true
		}
	}
	return sum
}
