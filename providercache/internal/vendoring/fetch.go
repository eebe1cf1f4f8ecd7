package vendoring

import (
	"context"
	"io/fs"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// fetch has a package in its place, or in a stage.
func (v *vendor) fetch(ctx context.Context, p archivedir.Item) (archivedir.Kept, error) {
	t := fetch.Request{Selection: p.Selection, Recorded: v.binding(p)}
	if v.isPlaced(p.Provider) {
		return v.dir.Fetch(ctx, t, p, archivedir.Claim{Has: func(getproviders.Hash) bool { return false }}, v.verifyPlaced)
	}
	var c archivedir.Claim
	if there, err := v.identify(ctx, p); err == nil {
		c = archivedir.Claim{Known: there, Has: there.Receipt.Has, Same: there, Signed: !there.Archive || v.isAsSigned(ctx, p, there.Receipt)}
	}
	if v.opts.Unpacked && (c.Has == nil || !slices.ContainsFunc(p.Recorded, c.Has)) {
		name := packedName(p.Selection, p.Platform)
		if packed, err := v.dir.Find(ctx, p.Provider, name); err == nil && slices.ContainsFunc(p.Recorded, packed.Receipt.Has) { // no source is asked
			t.Recorded, t.Package.Location = p.Recorded, getproviders.LocalArchive(v.dir.Path(name))
		}
	}
	k, err := v.dir.Fetch(ctx, t, p, c, func(ctx context.Context, t fetch.Request, k *archivedir.Kept) (bool, error) {
		t.Package.Trust.Recheck = nil // the lock file learns all that the source says
		return v.dir.IsCurrent(ctx, t, k)
	})
	k.Source = k.From.Source
	return k, err
}

// binding are the hashes of which a package that is fetched has to have one.
func (v *vendor) binding(p archivedir.Item) []getproviders.Hash {
	if len(resolve.OfScheme(p.Recorded, hashing.ZH)) == 0 && p.Platform != v.dir.Fetcher.Platform {
		return nil
	}
	return p.Recorded
}

// hashUnpacked hashes a package that is a directory, and no link to one.
func hashUnpacked(ctx context.Context, dir string) (getproviders.Hash, error) {
	info, err := receipt.Lstat(dir)
	if err == nil && !info.Mode.IsDir() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", err
	}
	return treehash.Dir(ctx, dir)
}
