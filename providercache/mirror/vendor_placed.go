package mirror

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// isPlaced reports whether the user puts the provider's packages into the directory.
func (v *vendor) isPlaced(p getproviders.Provider) bool { return slices.Contains(v.opts.Placed, p) }

// nameOf returns a package's path below the directory. For a placed
// provider, it is the path at which an installation finds the package.
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

// mirrorHere is the directory as a filesystem mirror, as the products read it.
func (v *vendor) mirrorHere() *getproviders.FilesystemMirrorSource {
	return &getproviders.FilesystemMirrorSource{Dir: v.opts.Dir}
}

// isUnpacked reports whether a package is a directory.
func isUnpacked(p archivedir.Item) bool {
	_, _, packed := p.Provider.ParsePackedName(filepath.Base(p.Path))
	return !packed
}

// verifyPlaced authenticates a placed package.
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

// find returns what the directory has of a package. It compares a placed package
// with the source, and unpacks a packed one if Unpacked is set.
func (v *vendor) find(ctx context.Context, p *archivedir.Item) (archivedir.Claim, error) {
	c := archivedir.Claim{Recorded: v.binding(*p)}
	if v.isPlaced(p.Provider) {
		c.Has, c.Current = func(getproviders.Hash) bool { return false }, v.verifyPlaced
		return c, nil
	}
	c.Current = func(ctx context.Context, t fetch.Request, k *archivedir.Kept) (bool, error) {
		t.Package.Trust.Recheck = nil // the lock file records all that the source says
		return v.dir.IsCurrent(ctx, t, k)
	}
	if there, err := v.identify(ctx, *p); err == nil {
		c.Known, c.Has, c.Same, c.Signed = there, there.Receipt.Has, there, !there.Archive || v.isAsSigned(ctx, *p, there.Receipt)
	}
	if v.opts.Unpacked && (c.Has == nil || !slices.ContainsFunc(p.Recorded, c.Has)) {
		name := packedName(p.Selection, p.Platform)
		if packed, err := v.dir.Find(ctx, p.Provider, name); err == nil && slices.ContainsFunc(p.Recorded, packed.Receipt.Has) { // then no source is asked
			c.Recorded, c.From = p.Recorded, getproviders.LocalArchive(v.dir.Path(name))
		}
	}
	return c, nil
}

// binding returns the hashes of which a fetched package has to have one.
func (v *vendor) binding(p archivedir.Item) []getproviders.Hash {
	if len(resolve.OfScheme(p.Recorded, hashing.ZH)) == 0 && p.Platform != v.dir.Fetcher.Platform {
		return nil
	}
	return p.Recorded
}

// hashUnpacked hashes a package that is a directory, but not a link to one.
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
