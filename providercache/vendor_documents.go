package providercache

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// put puts an archive into its place, after what is signed about it: if the
// process is killed between the two, the next one still asks for the archive.
func (v *vendor) put(k *mirrorKept) error {
	if k.documents != nil {
		_, err := scratch.MakeDirs(filepath.Dir(k.Path))
		if err == nil {
			err = v.dir.replaceDocuments(k.Selection.Provider, k.Selection.Version, *k.documents)
		}
		if err != nil {
			if k.stage != nil {
				k.stage.Remove()
				k.stage = nil
			}
			return k.Selection.Failed(resolve.StepPublish, err)
		}
	}
	if k.stage == nil {
		return nil
	}
	return k.place()
}

// believed reports whether an archive is what it should be to who installs it
// from here, and judges it by what lies beside it.
func (v *vendor) believed(ctx context.Context, p mirrorPackage, rc receipt.Receipt) bool {
	pkg, err := v.mirrorHere().Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	sum, archived := archiveSum(rc.ZH)
	if err != nil || !archived {
		return true
	}
	t := fetcher.Request{Selection: p.Selection, Package: pkg}
	trust, err := t.LoadTrust(ctx)
	if err == nil {
		_, err = t.Judge(trust.Authenticator, getproviders.Digests{SHA256: sum, H1: rc.H1, H1Archive: rc.ArchiveH1()}, v.dir.fetcher.Product)
	}
	there, whole := getproviders.ReadSignedDocuments(v.dir.path(mirrorDir(p.Selection.Provider)), p.Selection.Provider, p.Selection.Version)
	return err == nil && (!whole || there.Covers(p.Selection.Provider, p.Selection.Version, p.Platform, rc.ZH))
}

// dropUntrue removes what is said to be signed about versions, but isn't true of
// all their archives, wanted or not: nobody could install these.
func (v *vendor) dropUntrue(ctx context.Context, all []mirrorKept) (errs []error) {
	kept := map[string]*mirrorKept{}
	var providers []getproviders.Provider
	for i, k := range all {
		if kept[k.name] = &all[i]; k.Err == nil && !k.isUnpacked() && !v.isPlaced(k.Selection.Provider) {
			providers = append(providers, k.Selection.Provider)
		}
	}
	for _, p := range slices.Compact(providers) {
		shelf, _ := v.dir.shelve(ctx, p, kept, false) // what can't be read is nothing that anybody installs
		for _, version := range shelf.sortedVersions() {
			for plat, there := range shelf.versions[version] {
				s := resolve.Selection{Provider: p, Version: version}
				if !v.believed(ctx, mirrorPackage{Mirrored: Mirrored{Selection: s, Platform: plat}}, there.Receipt) {
					errs = append(errs, v.dir.removeDocuments(p, version))
				}
			}
		}
	}
	return errs
}
