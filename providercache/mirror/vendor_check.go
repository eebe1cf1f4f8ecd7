package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// CheckVendored says, without network and without writing, whether Vendor would
// have anything to do. Reasons are in the order of providers. Their codes are
// "lock_missing_provider", "lock_without_hash", "lock_extra_provider",
// "constraint_unsatisfied", "built_in_invalid", "package_absent",
// "package_differs", "documents_differ", and if Prune is set, "package_unneeded", which is about no
// provider. The error is the context's, or says why the directory can't be read.
func CheckVendored(ctx context.Context, f *providercache.Fetcher, opts VendorOptions, r providercache.LockRequest) (providercache.Status, error) {
	v, locks := newVendor(f.Opened(), opts), resolve.OrEmpty(r.Locks)
	v.openReceipts()
	locked, reasons := resolve.Locked(v.dir.Fetcher.Product, r.Requirements, r.Requirements, locks)
	var c lockhashes.Choice
	for _, s := range locked {
		platforms, _ := lockhashes.PlatformsFor(ctx, v.dir.Fetcher, lockhashes.Request{Platforms: r.Platforms}, s) // no source is asked
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

// compare says what is wrong with a package; no Code: nothing.
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
		return because("documents_differ", "what is signed about version %s isn't true of the package for %s, or isn't signed so")
	}
	return providercache.Reason{}, nil
}

// identify finds out what a package is.
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
