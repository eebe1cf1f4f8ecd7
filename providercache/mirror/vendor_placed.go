package mirror

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// isPlaced reports whether a provider's packages are kept by other means.
func (v *vendor) isPlaced(p getproviders.Provider) bool { return slices.Contains(v.opts.Placed, p) }

// nameOf is what a package is called, below the directory: one that is placed, as
// it is found there by who installs from it.
func (v *vendor) nameOf(ctx context.Context, s getproviders.Selection, plat getproviders.Platform) string {
	if v.isPlaced(s.Provider) {
		if name, ok := v.placedName(ctx, s, plat); ok {
			return name
		}
	}
	if v.opts.Unpacked {
		return layout.UnpackedPath(s.Provider, s.Version, plat)
	}
	return packedName(s, plat)
}

func packedName(s getproviders.Selection, plat getproviders.Platform) string {
	return archivedir.MirrorDir(s.Provider) + "/" + s.Provider.PackedName(s.Version, plat)
}

func (v *vendor) placedName(ctx context.Context, s getproviders.Selection, plat getproviders.Platform) (name string, ok bool) {
	pkg, err := v.mirrorHere().Package(ctx, s.Provider, s.Version, plat)
	if err != nil {
		return "", false
	}
	at := ""
	switch location := pkg.Location.(type) {
	case getproviders.LocalDirectory:
		at = string(location)
	case getproviders.LocalArchive:
		at = string(location)
	}
	name, err = filepath.Rel(v.opts.Dir, at)
	return filepath.ToSlash(name), err == nil && filepath.IsLocal(name)
}

// mirrorHere is the directory as the products find packages in it.
func (v *vendor) mirrorHere() *getproviders.FilesystemMirrorSource {
	return &getproviders.FilesystemMirrorSource{Dir: v.opts.Dir}
}

// isUnpacked reports whether a package is a directory.
func isUnpacked(p archivedir.Item) bool {
	_, _, packed := p.Provider.ParsePackedName(filepath.Base(p.Path))
	return !packed
}

// verifyPlaced authenticates a package that is kept by other means.
func (v *vendor) verifyPlaced(ctx context.Context, t fetch.Request, k *archivedir.Kept) (ok bool, err error) {
	if isUnpacked(k.Item) {
		got, err := v.dir.Fetcher.AuthenticateDirectory(ctx, t, k.Path)
		k.Known = k.Pending(got.Receipt(receipt.StatRecord{}), false)
		return err == nil, err
	}
	if k.Known, err = v.dir.Find(ctx, k.Provider, k.Name); err != nil {
		return false, t.Failed(during.Fetch, err)
	}
	trust, err := t.LoadTrust(ctx)
	if err == nil {
		err = k.Authenticate(t, trust)
	}
	if err != nil {
		return false, err
	}
	return true, v.dir.Approve(ctx, t, *k)
}
