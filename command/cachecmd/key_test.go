package cachecmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestKeyOf_DoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	plat := getproviders.Platform{OS: "linux", Arch: "amd64"}
	locksOf := func(pairs ...string) *depsfile.Locks {
		l := new(depsfile.Locks)
		for i := 0; i < len(pairs); i += 3 {
			l.Set(depsfile.Lock{Provider: getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: pairs[i]}, Version: getproviders.MustParseVersion(pairs[i+1]), Hashes: []getproviders.Hash{getproviders.Hash(pairs[i+2])}})
		}
		return l
	}
	a, b := locksOf("a", "1.0.0", "h1:a="), locksOf("b", "1.0.0", "h1:b=")
	both := locksOf("b", "1.0.0", "h1:b=", "a", "1.0.0", "h1:a=")
	key := keyOf(providercache.PackageSpecs(a, b), plat)
	if !strings.HasPrefix(key, keyPrefix(plat)) {
		t.Errorf("%q has no prefix", key)
	}
	for _, same := range [][]getproviders.PackageSpec{
		providercache.PackageSpecs(b, a), providercache.PackageSpecs(both), providercache.PackageSpecs(a, b, both, a),
	} {
		must.Equal(t, keyOf(same, plat), key, same)
	}
	for _, other := range [][]getproviders.PackageSpec{
		providercache.PackageSpecs(), providercache.PackageSpecs(a), providercache.PackageSpecs(a, locksOf("b", "1.0.1", "h1:b=")),
		providercache.PackageSpecs(both, locksOf("b", "1.0.0", "h1:c=")), providercache.PackageSpecs(both, locksOf("b", "2.0.0", "h1:b=")),
	} {
		if keyOf(other, plat) == key {
			t.Errorf("%v has the same key", other)
		}
	}
	if keyOf(providercache.PackageSpecs(both), getproviders.Platform{OS: "linux", Arch: "arm64"}) == key {
		t.Error("another platform has the same key")
	}
}
