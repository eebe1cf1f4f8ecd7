package mirror

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

// Find implements archivedir.Destination. A package that is placed is compared with the source, and a packed one is unpacked.
func (v *vendor) Find(ctx context.Context, p *archivedir.Item) (archivedir.Claim, error) {
	c := archivedir.Claim{Recorded: v.binding(*p)}
	if v.isPlaced(p.Provider) {
		c.Has, c.Current = func(getproviders.Hash) bool { return false }, v.verifyPlaced
		return c, nil
	}
	c.Current = func(ctx context.Context, t fetch.Request, k *archivedir.Kept) (bool, error) {
		t.Package.Trust.Recheck = nil // the lock file learns all that the source says
		return v.dir.IsCurrent(ctx, t, k)
	}
	if there, err := v.identify(ctx, *p); err == nil {
		c.Known, c.Has, c.Same, c.Signed = there, there.Receipt.Has, there, !there.Archive || v.isAsSigned(ctx, *p, there.Receipt)
	}
	if v.opts.Unpacked && (c.Has == nil || !slices.ContainsFunc(p.Recorded, c.Has)) {
		name := packedName(p.Selection, p.Platform)
		if packed, err := v.dir.Find(ctx, p.Provider, name); err == nil && slices.ContainsFunc(p.Recorded, packed.Receipt.Has) { // no source is asked
			c.Recorded, c.From = p.Recorded, getproviders.LocalArchive(v.dir.Path(name))
		}
	}
	return c, nil
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
