package mirror

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// put publishes an archive, after its signed documents: if the process is
// killed between the two, the next run still requests the archive.
func (v *vendor) put(ctx context.Context, k *archivedir.Kept) error {
	if k.Documents != nil {
		_, err := scratch.MakeDirs(filepath.Dir(k.Path))
		if err == nil {
			err = archivedir.PutDocuments(ctx, &v.dir, k.Provider, k.Version, *k.Documents)
		}
		if err != nil {
			return k.Failed(during.Publish, err)
		}
	}

	if k.Stage == nil {
		return nil
	}
	return k.Publish(ctx)
}

// isAsSigned reports whether a client that installs an archive from
// here, and verifies it by the documents beside it, accepts it.
func (v *vendor) isAsSigned(ctx context.Context, p archivedir.Item, rc receipt.Receipt) bool {
	pkg, err := v.mirrorHere().Package(ctx, p.Provider, p.Version, p.Platform)
	if _, archived := rc.ZH.SHA256(); err != nil || !archived {
		return true
	}
	t := fetch.Request{Selection: p.Selection, Package: pkg}
	trust, err := t.LoadTrust(ctx)
	if err == nil {
		_, err = t.Authenticate(trust.Authenticator, rc.Digests())
	}
	there, whole := p.Provider.ReadSignedDocuments(v.dir.Path(archivedir.MirrorDir(p.Provider)), p.Version)
	return err == nil && (!whole || there.Covers(p.Provider, p.Version, p.Platform, rc.ZH))
}

// dropUntrue removes the signed documents of versions that aren't true of all
// their archives, wanted or not: clients would reject these archives.
func (v *vendor) dropUntrue(ctx context.Context, all []archivedir.Kept) (errs []error) {
	kept := map[string]*archivedir.Kept{}
	var providers []getproviders.Provider
	for i, k := range all {
		if kept[k.Name] = &all[i]; k.Err == nil && !isUnpacked(k.Item) && !v.isPlaced(k.Provider) {
			providers = append(providers, k.Provider)
		}
	}
	for _, p := range slices.Compact(providers) {
		listing, _ := v.dir.List(ctx, p, kept, false) // an archive that can't be read can't be installed
		for _, version := range listing.SortedVersions() {
			for plat, there := range listing.Versions[version] {
				s := getproviders.Selection{Provider: p, Version: version}
				if !v.isAsSigned(ctx, archivedir.Item{Outcome: event.Outcome{Selection: s, Platform: plat}}, there.Receipt) {
					errs = append(errs, archivedir.RemoveDocuments(ctx, &v.dir, p, version))
				}
			}
		}
	}
	return errs
}
