package providercache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// archiveMode is what everybody may do with the archives and indexes of a
// mirror: a web server runs as somebody else.
const archiveMode fs.FileMode = 0o644

// fetchAll gets all packages that aren't there.
func (m *mirror) fetchAll(ctx context.Context, packages []mirrorPackage) []mirrorKept {
	kept, errs := par.Map(ctx, m.dir.fetcher.Limits.WithDefaults().Queries, packages, func(ctx context.Context, p mirrorPackage) (mirrorKept, error) {
		k, err := m.get(ctx, p)
		if err != nil {
			k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
		}
		m.dir.fetcher.Emit(ctx, MirrorDone{Package: k.Mirrored})
		return k, nil
	})
	for i, err := range errs {
		if err != nil { // it was never begun
			kept[i] = mirrorKept{mirrorPackage: packages[i]}
			kept[i].Err = resolve.OnPlatform(ctx, packages[i].Selection, packages[i].Platform, err)
		}
	}
	return kept
}

// get finds a package in the mirror, or fetches it.
func (m *mirror) get(ctx context.Context, p mirrorPackage) (mirrorKept, error) {
	k := mirrorKept{mirrorPackage: p}
	there, err := m.dir.find(ctx, p.Selection.Provider, p.name)
	exists := !errors.Is(err, fs.ErrNotExist)
	has := func(h getproviders.Hash) bool { return err == nil && there.Receipt.Has(h) }
	if slices.ContainsFunc(p.recorded, has) {
		k.Present, k.known = true, there
		m.dir.document(ctx, &k)
		return k, nil
	}
	pkg, failed := m.dir.fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if failed != nil {
		return k, p.Selection.Failed(resolve.StepMetadata, failed)
	}
	t := fetcher.Request{Selection: p.Selection, Package: pkg}
	if err == nil {
		if k.Present, failed = m.vouched(ctx, t, &k, there.Receipt); failed != nil || k.Present {
			k.known = there
			return k, failed
		}
	}
	k, failed = m.dir.fetchInto(ctx, t, k, there, exists)
	if failed == nil {
		zh := k.known.Receipt.ZH
		if k.documents = signedDocuments(ctx, t, p.Platform, zh); k.documents == nil {
			k.documents = m.dir.documentsThere(p, zh)
		}
	}
	return k, failed
}

// vouched reports whether the source says of an archive that is there that it is
// the package. One that it has nothing to say about is compared with the
// source's own only if it is that one.
func (m *mirror) vouched(ctx context.Context, t fetcher.Request, k *mirrorKept, there receipt.Receipt) (bool, error) {
	sum, ok := archiveSum(there.ZH)
	if expected, known := t.Expected(); !ok || known && expected != sum {
		return false, nil
	}
	digests := getproviders.Digests{SHA256: sum, H1: there.H1, H1Archive: there.ArchiveH1()}
	if m.dir.rejudge(t, k, digests) {
		return true, nil
	}
	trust, err := t.LoadTrust(ctx)
	if err != nil || trust.Authenticator == nil {
		return false, err
	}
	if _, err = trust.Authenticator.Authenticate(digests); err != nil {
		return false, nil
	}
	k.documents = shownDocuments(t, trust, k.Platform, there.ZH)
	return true, nil
}

// fetchInto gets a package and puts it into its place. If there is another
// archive, that waits until the index doesn't tell of it any more; the same one
// stays, as where a directory that vouches for nothing is the source.
func (d *archiveDir) fetchInto(ctx context.Context, t fetcher.Request, k mirrorKept, there receipt.Pending, exists bool) (mirrorKept, error) {
	if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return k, t.Failed(resolve.StepFetch, fmt.Errorf("a mirror holds archives, and %s is an unpacked package", dir))
	}
	d.fetcher.Emit(ctx, MirrorFetch{Package: k.Mirrored, Local: fetcher.IsLocal(t)})
	stage, err := staging.New(d.root)
	if err != nil {
		return k, t.Failed(resolve.StepPublish, err)
	}
	k.stage = stage
	if err := d.obtainInto(ctx, t, &k); err != nil {
		stage.Remove()
		k.stage = nil
		return k, err
	}
	switch {
	case !exists:
		return k, k.place()
	case there.Receipt.ZH == k.known.Receipt.ZH:
		stage.Remove()
		k.stage, k.known, k.Present = nil, there, true
	}
	return k, nil
}

// obtainInto gets the archive into the stage.
func (d *archiveDir) obtainInto(ctx context.Context, t fetcher.Request, k *mirrorKept) error {
	archive := k.stage.ArchivePath()
	got, err := d.fetcher.ObtainArchive(ctx, t, archive, "", nil)
	if err != nil {
		return err
	}
	if err := os.Chmod(archive, archiveMode); err != nil {
		return t.Failed(resolve.StepPublish, err)
	}
	record, _ := receipt.RecordArchive(archive) // nobody else has touched it
	k.Authentication = got.Authentication
	k.known = receipt.Pending{Name: k.name, Dir: k.Path, Archive: true, Receipt: got.Receipt(record)}
	return nil
}

// place puts the archive from the stage into its place.
func (k *mirrorKept) place() error {
	_, err := scratch.MakeDirs(filepath.Dir(k.Path))
	if err == nil {
		err = os.Rename(k.stage.ArchivePath(), k.Path)
	}
	k.stage.Remove()
	if k.stage = nil; err != nil {
		k.known = receipt.Pending{}
		return k.Selection.Failed(resolve.StepPublish, err)
	}
	return nil
}
