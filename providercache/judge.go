package providercache

import (
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// errNeedsH1 says that a package can't be judged by its archive's checksum
// alone: unpack it and ask again.
var errNeedsH1 = errors.New("the hash of the package's files is needed")

// judge authenticates a package and compares it with the lock file. Before an
// archive has been unpacked, d has its SHA-256 and no h1.
func (t task) judge(authenticator getproviders.Authenticator, d getproviders.Digests, product getproviders.Product) (getproviders.AuthenticationResult, error) {
	var authentication getproviders.AuthenticationResult
	if authenticator != nil {
		var err error
		authentication, err = authenticator.Authenticate(d)
		if err != nil && d.H1 == "" && expectsH1(err) {
			return getproviders.AuthenticationResult{}, errNeedsH1
		}
		if err != nil {
			return getproviders.AuthenticationResult{}, t.failed(StepAuthenticate, err)
		}
	}
	if err := t.compareWithLock(d, product); err != nil {
		return getproviders.AuthenticationResult{}, err
	}
	return authentication, nil
}

// expectsH1 reports whether an authenticator would have been content with an
// h1 that it wasn't given.
func expectsH1(err error) bool {
	mismatch, ok := errors.AsType[*getproviders.ChecksumError](err)
	return ok && len(ofScheme(mismatch.Expected, getproviders.SchemeH1)) > 0
}

// compareWithLock checks a package against the lock file's hashes, one of
// which it has to have. The h1 of an archive may count directory entries, as
// the real tools count them. A directory has no archive checksum: if the lock
// file holds no other kind, nothing can be compared, and that is accepted, as
// the real tools do.
func (t task) compareWithLock(d getproviders.Digests, product getproviders.Product) error {
	isArchive := d.SHA256 != [32]byte{}
	comparable := t.Recorded
	var got []getproviders.Hash
	if isArchive {
		got = append(got, getproviders.ZH(d.SHA256))
	} else {
		comparable = ofScheme(t.Recorded, getproviders.SchemeH1)
	}
	if d.H1 != "" {
		got = getproviders.SortHashes(append(got, d.H1, d.H1Archive))
	}
	matches := func(h getproviders.Hash) bool { return slices.Contains(got, h) }
	if len(comparable) == 0 || slices.ContainsFunc(comparable, matches) {
		return nil
	}
	if d.H1 == "" && len(ofScheme(comparable, getproviders.SchemeH1)) > 0 {
		return errNeedsH1
	}
	return t.failed(StepVerify, &LockMismatchError{
		Provider: t.Provider, Version: t.Version, Got: got, Recorded: t.Recorded, Product: product,
	})
}
