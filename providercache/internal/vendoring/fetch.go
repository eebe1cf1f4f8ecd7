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
	k, err := v.dir.Fetch(ctx, t, p, c, v.adopt)
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

// adopt reports whether an archive that is there is what would be fetched, and
// adds what the source says of it.
func (v *vendor) adopt(ctx context.Context, t fetch.Request, k *archivedir.Kept) (bool, error) {
	there := &k.Known.Receipt
	sum, ok := there.ZH.SHA256()
	if expected, known := t.Expected(); !ok || known && expected != sum {
		return false, nil
	}
	trust, err := t.LoadTrust(ctx)
	if err != nil || trust.Authenticator == nil {
		return false, err
	}
	signed, err := t.Authenticate(trust.Authenticator, there.Digests())
	if err != nil { // fetching it tells what is wrong
		return false, nil
	}
	there.Signed, there.TrustLevel, there.KeyID, there.RegistryHashes = signed.Signed, signed.TrustLevel, signed.KeyID, t.OtherRegistryHashes(trust)
	k.Documents = archivedir.SignedDocuments(t, trust, k.Platform, there.ZH)
	return true, v.dir.Approve(ctx, t, *k)
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
