package vendoring

import (
	"context"
	"io/fs"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

// get has a package in its place, or its archive in a stage.
func (v *vendor) get(ctx context.Context, p archivedir.Item) (archivedir.Kept, error) {
	switch {
	case v.isPlaced(p.Selection.Provider):
		return v.getPlaced(ctx, p)
	case v.opts.Unpacked:
		return v.getUnpacked(ctx, p)
	}
	var c archivedir.Claim
	if there, err := v.dir.Find(ctx, p.Selection.Provider, p.Name); err == nil {
		c = archivedir.Claim{Known: there, Has: there.Receipt.Has, Same: there, Signed: v.isAsSigned(ctx, p, there.Receipt)}
	}
	k, err := v.dir.Get(ctx, fetch.Request{Selection: p.Selection, Recorded: v.binding(p)}, p, c, v.adopt)
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

// ask asks the source for a package.
func (v *vendor) ask(ctx context.Context, p archivedir.Item) (fetch.Request, error) {
	pkg, err := v.dir.Fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if err != nil {
		return fetch.Request{}, p.Selection.Failed(during.Metadata, err)
	}
	return fetch.Request{Selection: p.Selection, Package: pkg, Recorded: v.binding(p)}, nil
}

// adopt reports whether an archive that is there is what would be fetched, and
// adds what the source says of it.
func (v *vendor) adopt(ctx context.Context, t fetch.Request, k *archivedir.Kept) (bool, error) {
	there := &k.Known.Receipt
	sum, ok := archivedir.ArchiveSum(there.ZH)
	if expected, known := t.Expected(); !ok || known && expected != sum {
		return false, nil
	}
	trust, err := t.LoadTrust(ctx)
	if err != nil || trust.Authenticator == nil {
		return false, err
	}
	signed, err := t.Authenticate(trust.Authenticator, getproviders.Digests{SHA256: sum, H1: there.H1, H1Archive: there.ArchiveH1()}, v.dir.Fetcher.Product)
	if err != nil { // fetching it tells what is wrong
		return false, nil
	}
	there.Signed, there.TrustLevel, there.KeyID, there.RegistryHashes = signed.Signed, signed.TrustLevel, signed.KeyID, t.OtherRegistryHashes(trust)
	k.Documents = archivedir.SignedDocuments(t, trust, k.Platform, there.ZH)
	return true, nil
}

// getUnpacked finds a package, or fetches and unpacks it.
func (v *vendor) getUnpacked(ctx context.Context, p archivedir.Item) (archivedir.Kept, error) {
	k := archivedir.Kept{Item: p}
	if h1, err := hashUnpacked(ctx, p.Path); err == nil && slices.Contains(p.Recorded, h1) {
		k.Present, k.Known = true, receipt.Pending{Name: p.Name, Dir: p.Path, Receipt: receipt.Receipt{H1: h1}}
		return k, v.dir.Approve(ctx, fetch.Request{Selection: p.Selection}, k)
	}
	t, err := v.packedTask(ctx, p)
	if err != nil {
		t, err = v.ask(ctx, p)
	}
	if err != nil {
		return k, err
	}
	v.dir.Fetcher.Emit(ctx, event.Event{Kind: event.Fetching, Outcome: p.Outcome, Location: t.Package.Location})
	stage, err := staging.New(v.opts.Dir)
	if err != nil {
		return k, t.Failed(during.Publish, err)
	}
	defer stage.Remove()
	got, err := v.fetchCopy(ctx, t, stage)
	if err != nil {
		return k, err
	}
	if err := stage.Publish(ctx, p.Path, got.H1); err != nil {
		return k, t.Failed(during.Publish, err)
	}
	k.Authentication, k.Source = got.Authentication, t.Package.Source
	k.Known = receipt.Pending{Name: p.Name, Dir: p.Path, Receipt: got.Receipt(receipt.StatRecord{})}
	return k, nil
}

// packedTask is for a package whose archive was vendored before, and is what is
// locked: no source is asked.
func (v *vendor) packedTask(ctx context.Context, p archivedir.Item) (fetch.Request, error) {
	s := p.Selection
	name := archivedir.MirrorDir(s.Provider) + "/" + s.Provider.PackedName(s.Version, p.Platform)
	there, err := v.dir.Find(ctx, s.Provider, name)
	if err == nil && !slices.ContainsFunc(p.Recorded, there.Receipt.Has) {
		err = fs.ErrNotExist
	}
	return fetch.Request{
		Selection: s, Recorded: p.Recorded,
		Package: getproviders.Package{Location: getproviders.LocalArchive(v.dir.Path(name))},
	}, err
}

// fetchCopy is Fetch for a package that has to be here: a link to where it is
// on this machine would lead nowhere on another one.
func (v *vendor) fetchCopy(ctx context.Context, t fetch.Request, stage *staging.Stage) (receipt.Provenance, error) {
	dir, unpacked := t.Package.Location.(getproviders.LocalDirectory)
	if !unpacked {
		return v.dir.Fetcher.Fetch(ctx, t, stage)
	}
	if _, _, err := link.Tree(ctx, string(dir), stage.PackagePath(), []link.Mode{link.Copy}); err != nil {
		return receipt.Provenance{}, t.Failed(during.Fetch, err)
	}
	return v.dir.Fetcher.AuthenticateDirectory(ctx, t, stage.PackagePath())
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
