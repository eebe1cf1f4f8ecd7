package fetch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// ExpectedBy returns the archive's checksum according to the
// documents that authenticate the package.
func ExpectedBy(trust getproviders.Trust) (sum [sha256.Size]byte, ok bool) {
	return trust.ExpectedSHA256, trust.ExpectedSHA256 != [sha256.Size]byte{}
}

// loadTrust is LoadTrust, but asks the source again if the server
// refuses the documents: their URLs expire like that of the archive.
func (f *Fetcher) loadTrust(ctx context.Context, t Request) (getproviders.Trust, error) {
	trust, err := t.LoadTrust(ctx)
	if !errors.Is(err, getproviders.ErrUnauthorized) || ctx.Err() != nil {
		return trust, err
	}
	again, failed := f.askAgain(ctx, t)
	if failed != nil {
		return trust, err
	}
	t.Package.Trust = again.Trust
	return t.LoadTrust(ctx)
}

// LoadTrust loads the documents that authenticate the package.
func (t Request) LoadTrust(ctx context.Context) (getproviders.Trust, error) {
	if t.localTrust() {
		return t.Package.Trust, nil
	}
	trust, err := t.Package.Trust.Loaded(ctx)
	if err != nil {
		return getproviders.Trust{}, t.Failed(during.Authenticate, err)
	}
	return trust, nil
}

// localTrust reports whether the lock file has hashes of archives
// already, so that the source needn't be asked for more documents.
func (t Request) localTrust() bool {
	return t.Package.Trust.LocalTrust && len(resolve.OfScheme(t.Recorded, hashing.ZH)) > 0
}

// origin is the package's source for its receipt. It is "" if not all documents were
// loaded, so that a directory without hashes in its lock file asks the source again.
func (t Request) origin() string {
	if t.localTrust() {
		return ""
	}
	return t.Package.SourceURL
}

// Expected returns the checksum that the archive has to have, if it is known before the download.
func (t Request) Expected() (sum [sha256.Size]byte, ok bool) { return ExpectedBy(t.Package.Trust) }

// Authenticate authenticates a package and compares it with the lock
// file. Before an archive is unpacked, d has its SHA-256 but no h1; if
// that isn't enough to decide, the error is errH1Required.
func (t Request) Authenticate(authenticator getproviders.Authenticator, d getproviders.Digests) (getproviders.AuthenticationResult, error) {
	var authentication getproviders.AuthenticationResult
	if authenticator != nil {
		var err error
		authentication, err = authenticator.Authenticate(d)
		if err != nil && d.H1 == "" && expectsH1(err) {
			return getproviders.AuthenticationResult{}, errH1Required
		}
		if err != nil {
			return getproviders.AuthenticationResult{}, t.Failed(during.Authenticate, err)
		}
	}
	if err := t.compareWithLock(d); err != nil {
		return getproviders.AuthenticationResult{}, err
	}
	return authentication, nil
}

// compareWithLock returns an error unless the package has one of the lock file's hashes. The h1 of
// an archive may count directory entries, as Terraform and OpenTofu count them. A directory has no
// archive checksum: if the lock file has no other kind of hash, the package is accepted without a
// comparison, as in Terraform and OpenTofu. A hash of an unknown scheme matches nothing.
func (t Request) compareWithLock(d getproviders.Digests) error {
	isArchive := d.SHA256 != [32]byte{}
	comparable := t.Recorded
	var got []getproviders.Hash
	if isArchive {
		got = append(got, getproviders.ZH(d.SHA256))
	} else {
		comparable = slices.DeleteFunc(slices.Clone(t.Recorded), func(h getproviders.Hash) bool { return h.Scheme() == hashing.ZH })
	}
	if d.H1 != "" {
		got = hashing.Sort(append(got, d.H1, d.H1Archive))
	}
	matches := func(h getproviders.Hash) bool { return slices.Contains(got, h) }
	if len(comparable) == 0 || slices.ContainsFunc(comparable, matches) {
		return nil
	}
	if d.H1 == "" && len(resolve.OfScheme(comparable, hashing.H1)) > 0 {
		return errH1Required
	}
	return t.Failed(during.Verify, &getproviders.Fault{
		Code: "lock_mismatch", Kind: getproviders.ErrLockMismatch, Subject: getproviders.Subject{Provider: t.Provider, Version: t.Version},
		Err:  fmt.Errorf("the current package for %s %s doesn't match any of the checksums previously recorded in the dependency lock file", t.Provider, t.Version),
		Hint: mismatchHint(got, t.Recorded),
	})
}

// mismatchHint says what to compare, and whom to ask.
func mismatchHint(got, recorded []getproviders.Hash) string {
	if !slices.ContainsFunc(recorded, getproviders.Hash.Supported) {
		return "the lock file has only hashes of kinds that this program doesn't know; use the version of the program that recorded them"
	}
	texts := make([]string, len(got))
	for i, h := range got {
		texts[i] = string(h)
	}
	return "the package has " + strings.Join(texts, " and ") + ": find out whether that is what its publisher made for this platform, and who wrote the lock file, on which platform and from which source"
}

// OtherRegistryHashes returns the hashes that the provider's registry lists for
// packages of other platforms. Call it only for authenticated packages.
func (t Request) OtherRegistryHashes(trust getproviders.Trust) map[getproviders.Platform]getproviders.Hash {
	others := maps.Clone(trust.RegistryHashes)
	delete(others, t.Package.Platform)
	if len(others) == 0 {
		return nil
	}
	return others
}

// errH1Required says that the archive's checksum alone can't
// authenticate a package: it has to be unpacked first.
var errH1Required = errors.New("the hash of the package's files is needed")

// expectsH1 reports whether an authenticator that refused a package would have accepted some h1.
func expectsH1(err error) bool {
	mismatch := getproviders.FaultOf(err, getproviders.ErrAuthentication)
	return mismatch != nil && len(resolve.OfScheme(mismatch.Hashes, hashing.H1)) > 0
}

// askAgain asks the source again for a package. A package of another source is an error.
func (f *Fetcher) askAgain(ctx context.Context, t Request) (getproviders.Package, error) {
	again, err := f.Source.Package(getproviders.AskAgain(ctx), t.Provider, t.Version, t.Package.Platform)
	if err == nil && again.SourceURL != t.Package.SourceURL {
		err = getproviders.ErrNotFound
	}
	return again, err
}

// ListedHashes returns the hashes of a package that may be recorded without reading it, or nil.
func (f *Fetcher) ListedHashes(p getproviders.Provider, trust getproviders.Trust) []getproviders.Hash {
	switch isRegistry := len(trust.RegistryHashes) > 0; {
	case isRegistry && f.trustsRegistry(p), f.HashPolicy == TrustMirrorHashes:
		return trust.ListedHashes
	}
	return nil
}

// TrustedHashes returns a registry's hashes of a provider if they may be recorded, else nil.
func (f *Fetcher) TrustedHashes(p getproviders.Provider, listed map[getproviders.Platform]getproviders.Hash) map[getproviders.Platform]getproviders.Hash {
	if !f.trustsRegistry(p) {
		return nil
	}
	return listed
}

func (f *Fetcher) trustsRegistry(p getproviders.Provider) bool {
	switch f.HashPolicy {
	case TrustRegistryHashes:
		return f.Product.Predecessor != nil && p.Hostname == f.Product.DefaultHost
	default:
		return f.HashPolicy == TrustMirrorHashes
	}
}

// RegistryHashes returns a registry's hashes, sorted, without those for the given
// platforms, whose packages have been read.
func RegistryHashes(listed map[getproviders.Platform]getproviders.Hash, known ...getproviders.Platform) []getproviders.Hash {
	others := maps.Clone(listed)
	maps.DeleteFunc(others, func(plat getproviders.Platform, _ getproviders.Hash) bool { return slices.Contains(known, plat) })
	return hashing.Sort(slices.Collect(maps.Values(others)))
}
