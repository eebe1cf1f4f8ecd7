package providercache

import (
	"os"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// KnownPackages returns what receipts tell of packages of a provider for the
// Platform, in Target and in the Cache, whether they are still there or not: the
// same version may come twice. It reads no package, writes nothing and needs no
// Source. See [getproviders.OfflineSource].
func (in *Installer) KnownPackages(p getproviders.Provider) (all []getproviders.CachedPackage) {
	shelves := []shelf{in.cacheShelf()}
	if in.Target != nil {
		shelves = append(shelves, in.targetShelf())
	}
	for _, at := range shelves {
		for _, from := range []*receipts{at.own, at.system} {
			if from != nil {
				all = append(all, from.of(at, p, in.Fetcher.platform())...)
			}
		}
	}
	return all
}

// of lists the packages of a provider that there are receipts for.
func (r *receipts) of(at shelf, p getproviders.Provider, plat getproviders.Platform) (all []getproviders.CachedPackage) {
	for _, name := range r.file.keys() {
		text := strings.TrimSuffix(strings.TrimPrefix(name, p.String()+"/"), "/"+plat.String())
		version, err := getproviders.ParseVersion(text)
		rc, known := r.find(name)
		if err != nil || !known || name != getproviders.UnpackedPath(p, version, plat) {
			continue
		}
		_, err = os.Stat(at.path(name))
		all = append(all, getproviders.CachedPackage{Version: version, SourceURL: rc.Origin, ArchiveBytes: rc.ArchiveBytes, Present: err == nil})
	}
	return all
}
