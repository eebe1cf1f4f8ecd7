package providercache

import (
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// KnownPackages returns what receipts tell of packages of a provider for the
// Platform, in Target and in the Cache, whether they are still there or not: the
// same version may come twice. It reads no package, writes nothing and needs no
// Source. See [getproviders.OfflineSource].
func (in *Installer) KnownPackages(p getproviders.Provider) (all []getproviders.CachedPackage) {
	shelves := []store.View{in.cacheShelf(), in.targetShelf()}
	for _, at := range shelves {
		all = append(all, at.KnownPackages(p, in.Fetcher.EffectivePlatform())...)
	}
	return all
}
