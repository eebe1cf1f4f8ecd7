package mirror

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// fetchAll gets all packages that aren't there.
func (m *mirror) fetchAll(ctx context.Context, packages []archivedir.Item) []archivedir.Kept {
	kept, errs := par.Map(ctx, m.dir.Fetcher.Limits.WithDefaults().Queries, packages, func(ctx context.Context, p archivedir.Item) (archivedir.Kept, error) {
		k, err := m.get(ctx, p)
		if err != nil {
			k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
		}
		m.dir.Fetcher.Emit(ctx, archivedir.DoneEvent{Package: k.Package})
		return k, nil
	})
	for i, err := range errs {
		if err != nil { // it was never begun
			kept[i] = archivedir.Kept{Item: packages[i]}
			kept[i].Err = resolve.OnPlatform(ctx, packages[i].Selection, packages[i].Platform, err)
		}
	}
	return kept
}

// get finds a package in the mirror, or fetches it.
func (m *mirror) get(ctx context.Context, p archivedir.Item) (archivedir.Kept, error) {
	k := archivedir.Kept{Item: p}
	there, err := m.dir.Find(ctx, p.Selection.Provider, p.Name)
	exists := !errors.Is(err, fs.ErrNotExist)
	has := func(h getproviders.Hash) bool { return err == nil && there.Receipt.Has(h) }
	if slices.ContainsFunc(p.Recorded, has) {
		k.Present, k.Known = true, there
		if err := m.dir.Approve(ctx, fetcher.Request{Selection: p.Selection}, k); err != nil {
			return k, err
		}
		m.dir.Document(ctx, &k)
		return k, nil
	}
	pkg, failed := m.dir.Fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if failed != nil {
		return k, p.Selection.Failed(resolve.StepMetadata, failed)
	}
	t := fetcher.Request{Selection: p.Selection, Package: pkg}
	if err == nil {
		if k.Present, failed = m.isCurrent(ctx, t, &k, there.Receipt); failed != nil || k.Present {
			k.Known = there
			if failed == nil {
				failed = m.dir.Approve(ctx, t, k)
			}
			return k, failed
		}
	}
	k, failed = m.dir.FetchStaged(ctx, t, k, there)
	if failed == nil && !exists {
		failed = k.Publish()
	}
	if failed == nil {
		zh := k.Known.Receipt.ZH
		if k.Documents = archivedir.SignedDocuments(ctx, t, p.Platform, zh); k.Documents == nil {
			k.Documents = m.dir.DocumentsThere(p, zh)
		}
	}
	return k, failed
}

// isCurrent reports whether an archive that is there is what the source has, by the
// source's checksums and signatures. Where the source has none, it isn't.
func (m *mirror) isCurrent(ctx context.Context, t fetcher.Request, k *archivedir.Kept, there receipt.Receipt) (bool, error) {
	sum, ok := archivedir.ArchiveSum(there.ZH)
	if expected, known := t.Expected(); !ok || known && expected != sum {
		return false, nil
	}
	digests := getproviders.Digests{SHA256: sum, H1: there.H1, H1Archive: there.ArchiveH1()}
	if m.dir.Recheck(t, k, digests) {
		return true, nil
	}
	trust, err := t.LoadTrust(ctx)
	if err != nil || trust.Authenticator == nil {
		return false, err
	}
	if _, err = trust.Authenticator.Authenticate(digests); err != nil {
		return false, nil
	}
	k.Documents = archivedir.ShownDocuments(t, trust, k.Platform, there.ZH)
	return true, nil
}
