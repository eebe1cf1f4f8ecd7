package installtest

import (
	"crypto/sha256"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache"
)

// WrongH1 is the hash of no package.
const WrongH1 = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// ListingRegistry starts a registry that lists the hashes of all packages, and has a package for
// each of three platforms. It lists the given h1, and the true ones for the other platforms.
func ListingRegistry(tb testing.TB, h1 map[getproviders.Platform]string) (*providertest.Registry, *providercache.Installer) {
	tb.Helper()
	registry := must.Get(providertest.NewRegistry(providertest.Options{ListHashes: true}))(tb)
	tb.Cleanup(registry.Close)
	for _, plat := range EveryPlatform.Platforms {
		spec := providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat,
			Archive: ZipOf(tb, map[string]string{"terraform-provider-widget": plat.String()})}
		if told, ok := h1[plat]; ok {
			spec.Hashes = []string{told, string(getproviders.ZH(sha256.Sum256(spec.Archive)))}
		}
		registry.Add(spec)
	}
	return registry, NewUser(tb, registry)
}

// NewUser returns the Installer of a user who has installed nothing yet.
func NewUser(tb testing.TB, registry *providertest.Registry) *providercache.Installer {
	in := NewInstaller(tb, RegistrySource(registry))
	in.Fetcher.Client, in.Fetcher.StateDir = registry.Client(), tb.TempDir()
	in.Fetcher.Product = getproviders.OpenTofu("")
	in.Fetcher.Product.DefaultHost = RegistryHost // OpenTofu trusts its own registry
	return in
}

// EveryPlatform requests the hashes of ListingRegistry's packages.
var EveryPlatform = providercache.LockRequest{
	Requirements: Require(RegistryHost+"/acme/widget", ""), Platforms: append(slices.Clone(OtherPlatforms), Linux),
}

// LockOne executes one request, and fails the test on an error.
func LockOne(tb testing.TB, in *providercache.Installer, r providercache.LockRequest) providercache.LockResult {
	tb.Helper()
	result := First(in.Fetcher.Lock(tb.Context(), r))
	must.Succeed(tb, result.Err)
	return result
}

// First returns the result of the only request.
func First[R any](results []R, _ error) R { return results[0] }

// Installed returns the lock file of a new installation of EveryPlatform's package.
func Installed(t *testing.T, in *providercache.Installer) string {
	t.Helper()
	locks, report := Install(t, in, EveryPlatform.Requirements, nil)
	must.Len(t, report.Incomplete, 0)
	return string(locks.Encode(Product))
}

// LockOf returns locks with one version of widget.
func LockOf(v string, hashes ...getproviders.Hash) *depsfile.Locks {
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{Provider: Provider("acme/widget"), Version: Version(v), Hashes: hashes})
	return locks
}

// PackageHashes returns the hashes of an archive with a directory in it.
func PackageHashes(tb testing.TB, archive []byte) (h1, zh, h1Archive getproviders.Hash) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "package.zip")
	cachetest.WriteTo(tb, path, string(archive))
	h1, zh, err := providercache.HashPackage(tb.Context(), path)
	must.Succeed(tb, err)
	empty := sha256.Sum256(nil)
	h1Archive, err = treehash.H1([]treehash.File{
		{Name: "docs/", SHA256: empty}, {Name: "terraform-provider-widget", SHA256: sha256.Sum256([]byte("one"))},
	})
	must.Succeed(tb, err)
	if h1 == h1Archive {
		tb.Fatal("directories make no difference")
	}
	return h1, zh, h1Archive
}

// ZHOf returns the zh of an archive.
func ZHOf(content []byte) getproviders.Hash { return getproviders.ZH(sha256.Sum256(content)) }
