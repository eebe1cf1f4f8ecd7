package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// VendorOptions configure Vendor.
type VendorOptions struct {
	// Dir is the directory for vendored packages; it is made if it doesn't exist. The products
	// search "terraform.d/plugins" by themselves. The Source must not read from Dir, except for
	// Placed providers: the packages in Dir would hide those of the source.
	Dir string
	// Unpacked stores packages as directories,
	// host/namespace/type/version/os_arch, instead of archives.
	Unpacked bool
	// Placed are providers whose packages the user puts into Dir, because no registry
	// has them. They are verified and locked, packed or unpacked, and neither replaced nor
	// pruned. For these, the Source has to find the packages in Dir.
	Placed []getproviders.Provider
	// Prune removes packages that aren't wanted, packed and unpacked, and
	// the signed documents of versions without wanted archives. If
	// anything fails, nothing is removed. Files with other names stay.
	Prune bool
}

// VendorResult is the result of Vendor.
type VendorResult struct {
	// Locks cover all platforms, and have no entries of providers that
	// aren't required; nil if anything failed.
	Locks    *depsfile.Locks
	Packages []event.Outcome // sorted by provider, then by platform; including failed ones
	Pruned   []string        // slash-separated paths below the directory, sorted
}

// Vendor fills a directory with the packages that one working directory needs, so
// that the products install from it with no network and no configuration. r names
// the requirements; locked versions stay, others are selected.
//
// A package is verified as an Installer verifies it: by its signature, if the source
// has one, and by the lock file, which has to have one of its hashes. A lock file
// without any archive's checksum was made without a registry: it doesn't restrict
// packages of other platforms, and their hashes are added to it.
//
// A package in the directory with a hash of the lock file isn't requested.
// All that metadata can tell is asked for before the first archive is requested. When all
// packages were fetched, they are renamed into place, replacing wrong ones; if any of
// them failed, the directory stays as it is. No index is written. The events are those of Update.
//
// Signed documents are kept beside the archives, as by Update, for those who install from there.
// They are written before the archive: an archive that is there and locked has them, if the source
// had them. Documents that aren't true of all archives of their version are removed.
//
// If metadata shows that a package can't be had, no archive is requested; else Vendor tries all packages. The error joins
// a *getproviders.Fault for each that failed, which names the platform if a version was chosen.
func Vendor(ctx context.Context, f *providercache.Fetcher, opts VendorOptions, r providercache.LockRequest) (VendorResult, error) {
	if info, err := os.Stat(opts.Dir); err == nil && !info.IsDir() {
		return VendorResult{}, fmt.Errorf("vendored packages are in a directory, and %s is not one", opts.Dir)
	}
	v := newVendor(f.Opened(), opts)
	c := lockhashes.Choose(ctx, v.dir.Fetcher, r)
	packages := v.packages(ctx, r, c)
	v.dir.Fetcher.Emit(ctx, event.Event{Kind: event.Queued, Packages: archivedir.PackagesOf(packages)})
	if len(packages) > 0 {
		made, err := scratch.MakeDirs(opts.Dir)
		if err != nil {
			return VendorResult{}, fmt.Errorf("making the directory for vendored packages: %w", err)
		}
		defer scratch.RemoveEmpty(made)
	}
	scratch.Sweep(opts.Dir, v.dir.Fetcher.Now())
	v.openReceipts()

	kept := v.fetch(ctx, packages, c.HasFailed())
	v.dir.RememberHashes(ctx, kept)
	errs := v.publish(ctx, kept)

	return v.conclude(ctx, r, c, packages, kept, errs)
}

// fetch fetches the packages into stages.
func (v *vendor) fetch(ctx context.Context, packages []archivedir.Item, hasFailed bool) []archivedir.Kept {
	prepared := v.dir.Prepare(ctx, v.find, packages, hasFailed)

	kept, _ := par.Map(context.WithoutCancel(ctx), v.dir.Fetcher.Limits.Queries, prepared, func(_ context.Context, p archivedir.Prepared) (archivedir.Kept, error) {
		k := v.dir.Fetch(ctx, p)
		k.Source = k.From.Source
		v.dir.End(ctx, &k)
		return k, nil
	})

	return kept
}

// publish puts the packages into their places, if all of them were fetched. Else the directory stays as it is, and the packages
// that were fetched aren't kept: what belongs to no record and no lock file would only be taken for somebody else's.
func (v *vendor) publish(ctx context.Context, kept []archivedir.Kept) (errs []error) {
	isIncomplete := func(k archivedir.Kept) bool { return k.Err != nil || k.State == event.NotTried }
	if ctx.Err() != nil || slices.ContainsFunc(kept, isIncomplete) {
		archivedir.RemoveStages(kept)
		for i := range kept {
			k := &kept[i]
			if k.State == event.Fetched {
				k.State, k.Known = event.NotTried, receipt.Pending{}
			}
		}
		return nil
	}

	defer archivedir.RemoveStages(kept)
	for i := range kept {
		k := &kept[i]
		err := v.put(ctx, k)
		if err != nil {
			k.State, k.Err = event.Failed, resolve.OnPlatform(ctx, k.Selection, k.Platform, err)
		}
	}

	return v.dropUntrue(ctx, kept)
}

func newVendor(f *fetch.Fetcher, opts VendorOptions) *vendor {
	return &vendor{dir: archivedir.Dir{Fetcher: f, Root: opts.Dir, Unpacked: opts.Unpacked}, opts: opts}
}

// openReceipts opens the receipts of the directory, which has to exist by then.
func (v *vendor) openReceipts() {
	v.dir.Receipts = receipt.OpenArchives(v.dir.Fetcher.StateDir, v.opts.Dir)
}

// vendor is one run of Vendor.
type vendor struct {
	dir  archivedir.Dir
	opts VendorOptions
}

// packages returns the packages of a request, sorted by provider, then by platform.
func (v *vendor) packages(ctx context.Context, r lockhashes.Request, c lockhashes.Choice) (packages []archivedir.Item) {
	for _, p := range lockhashes.WantedPackages([]lockhashes.Choice{c}) {
		s := p.Selection
		name := v.nameOf(ctx, s, p.Platform)
		packages = append(packages, archivedir.Item{
			Outcome: event.Outcome{Selection: s, Platform: p.Platform, Path: v.dir.Path(name)},
			Name:    name, Recorded: resolve.Recorded(resolve.OrEmpty(r.Locks), s),
		})
	}
	slices.SortStableFunc(packages, func(a, b archivedir.Item) int { return a.Provider.Compare(b.Provider) })
	return packages
}

// conclude makes the new locks, and prunes.
func (v *vendor) conclude(ctx context.Context, r lockhashes.Request, c lockhashes.Choice, wanted []archivedir.Item, all []archivedir.Kept, errs []error) (result VendorResult, err error) {
	found := map[string]lockhashes.Package{}
	var known []receipt.Pending
	for _, k := range all {
		k.Bytes = k.Known.Receipt.ArchiveBytes
		result.Packages = append(result.Packages, k.Outcome)
		if k.State == event.NotTried {
			continue
		}
		found[lockhashes.KeyOf(k.Selection, k.Platform)] = locked(k)
		if k.Err == nil && k.Known.Archive {
			known = append(known, k.Known)
		}
	}
	v.dir.Remember(ctx, known)
	locked := r.Conclude(ctx, c, found, v.dir.Fetcher)
	if err := cmp.Or(locked.Err, errors.Join(errs...), context.Cause(ctx)); err != nil {
		return result, err
	}
	result.Locks = locked.Locks
	for _, lock := range result.Locks.All() {
		if _, required := r.Requirements[lock.Provider]; !required {
			result.Locks.Remove(lock.Provider)
		}
	}
	if v.opts.Prune {
		result.Pruned, err = v.prune(ctx, wanted)
	}
	return result, err
}

// locked returns what the lock file has to record of a package. For an unsigned archive,
// that includes the h1 that Terraform computes for it, in which directories count.
func locked(k archivedir.Kept) lockhashes.Package {
	rc := k.Known.Receipt
	p := lockhashes.Package{Outcome: event.Outcome{Selection: k.Selection, Platform: k.Platform, Err: k.Err}}.With(rc.Claims(), event.Fetched)
	if k.Known.Archive && !slices.Contains(slices.Concat(p.Hashes, k.Recorded), rc.ZH) {
		p.Hashes = hashing.Sort(append(p.Hashes, rc.ArchiveH1()))
	}
	return p
}
