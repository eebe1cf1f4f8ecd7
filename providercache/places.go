package providercache

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// Where an Installer has its packages, and what they are called.

// packageName is the name of a package in receipts and file locks.
func (in *Installer) packageName(s getproviders.Selection) string {
	return layout.UnpackedPath(s.Provider, s.Version, in.fetcher().Platform)
}

func (in *Installer) packageNames(all steps) (names []string) {
	for _, s := range all {
		names = append(names, in.packageName(s.Selection))
	}
	return names
}

// packagePath is where a package belongs in Target.
func (in *Installer) packagePath(p getproviders.Provider, v getproviders.Version) string {
	return in.Target.PackagePath(p, v, in.fetcher().Platform)
}

// partials is the directory in which parts of archives are kept for later runs;
// "" without a cache.
func (in *Installer) partials() string {
	if in.Cache == nil {
		return ""
	}
	return filepath.Join(in.Cache.Dir, download.PartialDir)
}

// cachePath is where a package belongs in the cache.
func (in *Installer) cachePath(s getproviders.Selection) string {
	return in.Cache.PackagePath(s.Provider, s.Version, in.fetcher().Platform)
}

// targetView reads the receipts for Target.
func (in *Installer) targetView() store.View {
	return store.ViewTarget(in.Target, in.fetcher().StateDir, in.fetcher().Now).WithStrictTimes(in.fetcher().StrictTimes)
}

// cacheView reads the receipts for the cache.
func (in *Installer) cacheView() store.View {
	return store.ViewCache(in.Cache, in.fetcher().StateDir, in.fetcher().Now).WithStrictTimes(in.fetcher().StrictTimes)
}
