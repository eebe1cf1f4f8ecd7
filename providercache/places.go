package providercache

import (
	"errors"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// Installer installs providers into a directory. It is a plain struct: set
// the fields, then call the methods, from as many goroutines as you like. It
// must not be copied, nor its fields changed, after the first call.
type Installer struct {
	Fetcher *Fetcher // required, but for Check: where packages come from, and how they are fetched and verified
	Target  *Store   // required: where packages go (".terraform/providers")

	// Cache is the store that this Target shares with other targets; nil: no cache. It can't
	// be the directory of the Target. Link says how packages get from the Cache into Target.
	// The default is a symbolic link to the package if the Cache is Shared and no other user
	// can write to it, else clones, hard links or copies of its files.
	Cache *Store
	Link  LinkMode

	// Skip holds providers that the product gets by other means, such as one
	// that its developer runs. They are neither installed nor checked, have no
	// events, and keep their lock entries as long as they are required.
	Skip map[getproviders.Provider]bool
}

// fetcher is the Fetcher with its defaults decided.
func (in *Installer) fetcher() *fetch.Fetcher { return in.Fetcher.Opened() }

var errNotSet = errors.New("an Installer needs a Fetcher and a Target")

func (in *Installer) validate() error {
	if in.Fetcher == nil || in.Target == nil {
		return errNotSet
	}
	if in.Cache != nil && in.Cache.IsSameAs(in.Target) {
		return errors.New("the Cache of an Installer can't be its Target: packages would become links to themselves")
	}
	return in.fetcher().Platform.Validate()
}

// The paths and names of an Installer's packages.

// packageName is the name of a package in receipts and file locks.
func (in *Installer) packageName(s getproviders.Selection) string {
	return layout.UnpackedPath(s.Provider, s.Version, in.fetcher().Platform)
}

// packagePath is where a package belongs in Target.
func (in *Installer) packagePath(p getproviders.Provider, v getproviders.Version) string {
	return in.Target.PackagePath(p, v, in.fetcher().Platform)
}

// partials is the directory for partly downloaded archives, which
// later runs resume; "" without a cache.
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
	return store.ViewTarget(in.Target, in.fetcher().StateDir, in.fetcher().Now, in.fetcher().StrictTimes)
}

// cacheView reads the receipts for the cache.
func (in *Installer) cacheView() store.View {
	return store.ViewCache(in.Cache, in.fetcher().StateDir, in.fetcher().Now, in.fetcher().StrictTimes)
}
