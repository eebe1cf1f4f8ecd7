package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// CheckVendored reports, without network and without writing, whether Vendor would have
// anything to do. Reasons are sorted by provider. Their codes are "lock_missing_provider",
// "lock_without_hash", "lock_extra_provider", "constraint_unsatisfied", "built_in_invalid",
// "package_absent", "package_differs", "package_refused", "documents_differ", and if Prune is
// set, "package_unneeded", which names no provider. The error is the context's, or says why
// the directory can't be read.
func CheckVendored(ctx context.Context, f *providercache.Fetcher, opts VendorOptions, r providercache.LockRequest) (providercache.Status, error) {
	v, locks := newVendor(f.Opened(), opts), resolve.OrEmpty(r.Locks)
	v.openReceipts()
	locked, reasons := resolve.Locked(v.dir.Fetcher.Product, r.Requirements, r.Requirements, locks)
	var c lockhashes.Choice
	for _, s := range locked {
		platforms, _ := lockhashes.PlatformsFor(ctx, v.dir.Fetcher, lockhashes.Request{Platforms: r.Platforms}, s) // asks no source
		c.Selections, c.Platforms = append(c.Selections, s), append(c.Platforms, platforms)
	}
	packages := v.packages(ctx, r, c)
	found, _ := par.Map(ctx, runtime.GOMAXPROCS(0), packages, v.compare)
	for _, reason := range found {
		if reason.Code != "" {
			reasons = append(reasons, reason)
		}
	}
	slices.SortStableFunc(reasons, resolve.ByProvider)
	if ctx.Err() != nil {
		return providercache.Status{}, resolve.Cancelled(ctx)
	}
	if !v.opts.Prune {
		return providercache.Status{Reasons: reasons}, nil
	}
	names, err := v.unneeded(ctx, packages)
	for _, name := range names {
		reasons = append(reasons, providercache.Reason{Code: "package_unneeded", Detail: name + " isn't needed"})
	}
	return providercache.Status{Reasons: reasons}, err
}

// compare returns what is wrong with a package; an empty Code means nothing.
func (v *vendor) compare(ctx context.Context, p archivedir.Item) (providercache.Reason, error) {
	because := func(code, format string) (providercache.Reason, error) {
		return providercache.Reason{Code: code, Provider: p.Provider, Detail: fmt.Sprintf(format, p.Version, p.Platform)}, nil
	}
	found, err := v.identify(ctx, p)
	rc := found.Receipt
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return because("package_absent", "there is no package of version %s for %s")
	case err != nil || !slices.ContainsFunc(p.Recorded, rc.Has):
		return because("package_differs", "the package of version %s for %s isn't the one that is locked")
	case !slices.Contains(p.Recorded, rc.H1):
		return because("lock_without_hash", "the lock file has no h1 of the package of version %s for %s")
	case v.dir.Approve(ctx, fetch.Request{Selection: p.Selection}, archivedir.Kept{Item: p, Known: found}) != nil:
		return because("package_refused", "the policy refuses version %s for %s")
	case !v.isAsSigned(ctx, p, rc):
		return because("documents_differ", "the signed checksums beside version %s don't authenticate the package for %s")
	}
	return providercache.Reason{}, nil
}

// identify finds the hashes of a package.
func (v *vendor) identify(ctx context.Context, p archivedir.Item) (found receipt.Pending, err error) {
	if !isUnpacked(p) {
		return v.dir.Find(ctx, p.Provider, p.Name)
	}
	hash := hashUnpacked
	if v.isPlaced(p.Provider) {
		hash = treehash.Dir
	}
	h1, err := hash(ctx, p.Path)
	return p.Pending(receipt.Provenance{H1: h1}.Receipt(receipt.StatRecord{}), false), err
}

// prune removes packages that aren't wanted.
func (v *vendor) prune(ctx context.Context, wanted []archivedir.Item) (pruned []string, err error) {
	names, err := v.unneeded(ctx, wanted)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range names {
		if err := v.dir.Remove(name, patient.RemoveAll); err != nil {
			errs = append(errs, err)
			continue
		}
		pruned = append(pruned, name)
	}
	_ = v.dir.Receipts.File.Save(ctx)
	return pruned, errors.Join(errs...)
}

// unneeded returns the names of packages and documents that aren't wanted, sorted.
func (v *vendor) unneeded(ctx context.Context, wanted []archivedir.Item) (names []string, err error) {
	if _, err := os.Stat(v.opts.Dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	providers, err := (&getproviders.FilesystemMirrorSource{Dir: v.opts.Dir}).Providers(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range providers {
		if v.isPlaced(p) {
			continue
		}
		entries, err := os.ReadDir(v.dir.Path(archivedir.MirrorDir(p)))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			name := archivedir.MirrorDir(p) + "/" + entry.Name()
			if _, _, packed := p.ParsePackedName(entry.Name()); packed && entry.Type().IsRegular() {
				names = append(names, name)
			}
			if _, err := getproviders.ParseVersion(entry.Name()); err == nil && entry.IsDir() {
				names = append(names, v.unpackedIn(name)...)
			}
			if _, isDocument := p.ParseDocumentName(entry.Name()); isDocument {
				names = append(names, name)
			}
		}
	}
	for _, p := range wanted {
		needed := []string{p.Name}
		if !isUnpacked(p) {
			needed = append(needed, archivedir.DocumentNames(p.Provider, p.Version)...)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(needed, name) })
	}
	slices.Sort(names)
	return names, nil
}

// unpackedIn returns the names of a version's unpacked packages.
func (v *vendor) unpackedIn(dir string) (names []string) {
	entries, _ := os.ReadDir(v.dir.Path(dir))
	for _, entry := range entries {
		if _, err := getproviders.ParsePlatform(entry.Name()); err == nil {
			names = append(names, dir+"/"+entry.Name())
		}
	}
	return names
}
