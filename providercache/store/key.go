package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
)

// KeyPrefix begins the keys for a platform. The number changes when packages
// that a cache with an older key holds would be of no use any more.
func KeyPrefix(plat getproviders.Platform) string { return "tfdeps-1-" + plat.String() + "-" }

// Key names the set of packages that lock files select on a platform, for
// stores that keep caches by names. Equal sets have the same key: it doesn't
// depend on how many lock files there are, on their order, comments and
// constraints. A hash more in one of them makes another key, because nobody can
// tell from a hash for which platform it is.
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
