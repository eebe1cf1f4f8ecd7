package vendoring

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// isPlaced reports whether a provider's packages are kept by other means.
func (v *vendor) isPlaced(p getproviders.Provider) bool { return slices.Contains(v.opts.Placed, p) }

// nameOf is what a package is called, below the directory: one that is placed, as
// it is found there by who installs from it.
func (v *vendor) nameOf(ctx context.Context, s getproviders.Selection, plat getproviders.Platform) string {
	unpacked := layout.UnpackedPath(s.Provider, s.Version, plat)
	packed := archivedir.MirrorDir(s.Provider) + "/" + s.Provider.PackedName(s.Version, plat)
	if v.isPlaced(s.Provider) {
		if name, ok := v.placedName(ctx, s, plat); ok {
			return name
		}
	}
	if v.opts.Unpacked {
		return unpacked
	}
	return packed
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
	_, _, packed := p.Selection.Provider.ParsePackedName(filepath.Base(p.Path))
	return !packed
}

// getPlaced verifies a package that is kept by other means.
func (v *vendor) getPlaced(ctx context.Context, p archivedir.Item) (archivedir.Kept, error) {
	k := archivedir.Kept{Item: p}
	t, err := v.ask(ctx, p)
	if err != nil {
		return k, err
	}
	k.Known = receipt.Pending{Name: p.Name, Dir: p.Path}
	if isUnpacked(p) {
		got, err := v.dir.Fetcher.AuthenticateDirectory(ctx, t, p.Path)
		k.Present, k.Known.Receipt = err == nil, got.Receipt(receipt.StatRecord{})
		return k, err
	}
	if k.Known, err = v.dir.Find(ctx, p.Selection.Provider, p.Name); err != nil {
		return k, t.Failed(during.Fetch, err)
	}
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return k, err
	}
	rc := &k.Known.Receipt
	sum, _ := archivedir.ArchiveSum(rc.ZH)
	signed, err := t.Authenticate(trust.Authenticator, getproviders.Digests{SHA256: sum, H1: rc.H1, H1Archive: rc.ArchiveH1()}, v.dir.Fetcher.Product)
	rc.Signed, rc.TrustLevel, rc.KeyID = signed.Signed, signed.TrustLevel, signed.KeyID
	if k.Present = err == nil; k.Present {
		err = v.dir.Approve(ctx, t, k)
	}
	return k, err
}
