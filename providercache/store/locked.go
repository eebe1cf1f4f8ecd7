package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// KeyPrefix begins the keys for a platform. Its number changes when packages
// that a cache with an older key holds become useless.
func KeyPrefix(plat getproviders.Platform) string { return "tfdeps-1-" + plat.String() + "-" }

// Key names the set of packages that lock files select on a platform, for
// services that keep caches by name. Equal sets have the same key: it doesn't
// depend on the number and order of lock files, on comments and on constraints.
// One more hash in a lock file makes another key, because a hash doesn't say
// for which platform it is.
func (l Locked) Key(plat getproviders.Platform) string {
	sum := sha256.New()
	for _, w := range PackageSpecs(l) {
		fmt.Fprintf(sum, "%s %s %s", w.Provider, w.Version, plat)
		for _, hash := range w.Hashes { // sorted
			fmt.Fprintf(sum, " %s", hash)
		}
		fmt.Fprintln(sum)
	}
	return KeyPrefix(plat) + hex.EncodeToString(sum.Sum(nil)[:8])
}

// PackageSpecs lists what lock files select, in the order of addresses and versions.
// A version that several select has the hashes of all of them.
func PackageSpecs(locked Locked) (wanted []resolve.PackageSpec) {
	for name, hashes := range locked {
		wanted = append(wanted, resolve.PackageSpec{Provider: name.Provider, Version: name.Version, Hashes: hashes})
	}
	slices.SortFunc(wanted, func(a, b resolve.PackageSpec) int {
		if by := a.Provider.Compare(b.Provider); by != 0 {
			return by
		}
		return a.Version.Compare(b.Version)
	})
	return wanted
}
