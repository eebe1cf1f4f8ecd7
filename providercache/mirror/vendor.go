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
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// VendorOptions says what a directory with vendored packages is to be like.
type VendorOptions struct {
	// Dir is where it is; made if it isn't there. The products look into
	// "terraform.d/plugins" by themselves. For providers that aren't Placed, the Source must
	// not read from there: what is there would hide what the source has.
	Dir string
	// Unpacked has packages as directories, host/namespace/type/version/os_arch,
	// instead of archives.
	Unpacked bool
	// Placed are providers whose packages are kept in Dir by other means, because no
	// registry has them. They are verified and locked, in whichever form they are
	// in, and neither replaced nor pruned. For these, the Source has to find what is
	// there.
	Placed []getproviders.Provider
	// Prune removes packages that aren't wanted, packed and unpacked, and what is
	// signed about versions of which no archive is wanted. If anything fails, nothing
	// is removed. Other names stay.
	Prune bool
}

// VendorResult is what became of such a directory.
type VendorResult struct {
	// Locks are good for all platforms. They have no entries of providers that
	// aren't required. nil if anything failed.
	Locks    *depsfile.Locks
	Packages []event.Outcome // in the order of providers, for each in that of platforms; failures included
	Pruned   []string        // slash-separated paths below the directory, sorted
}

// Vendor fills a directory with the packages that one working directory needs,
// so that the products install from it with no network and no configuration. The
// request says what that is: versions that are locked stay, others are selected.
//
// A package is verified as an Installer verifies it: by its signature, if the source
// has one, and by the lock file, one of whose hashes it has to have. Where the
// lock file has no checksum of any archive, it was made without a registry; then
// it has nothing to say about other platforms, and learns their hashes.
//
// What is there and has a hash of the lock file isn't asked for. An archive, or a
// directory, is put into its place by one rename, replacing what isn't what it should
// be. No index is written. The events are those of Update.
//
// What is signed about archives is kept beside them, as by Update, for those who
// install from there. It comes before the archive: one that is there and locked
// has it, if the source had. What isn't true of all archives of its version is
// removed.
//
// All packages are attempted. The error joins a *getproviders.Fault for each that
// failed, which names the platform if a version was chosen.
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
	kept := v.dir.Populate(ctx, v, slices.Collect(slices.Chunk(packages, 1)))
	return v.conclude(ctx, r, c, packages, kept)
}

func newVendor(f *fetch.Fetcher, opts VendorOptions) *vendor {
	return &vendor{dir: archivedir.Dir{Fetcher: f, Root: opts.Dir, Unpacked: opts.Unpacked}, opts: opts}
}

// openReceipts comes when the directory is there, by whose path they are found.
func (v *vendor) openReceipts() {
	v.dir.Receipts = receipt.OpenArchives(v.dir.Fetcher.StateDir, v.opts.Dir)
}

// vendor is one run of Vendor. It keeps archives as a mirror does.
type vendor struct {
	dir  archivedir.Dir
	opts VendorOptions
}

// packages are those that a request comes to, in the order of providers, for each
// in that of platforms.
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

// conclude makes the new locks, and removes what isn't wanted.
func (v *vendor) conclude(ctx context.Context, r lockhashes.Request, c lockhashes.Choice, wanted []archivedir.Item, all []archivedir.Kept) (result VendorResult, err error) {
	found := map[string]lockhashes.Package{}
	var known []receipt.Pending
	for _, k := range all {
		k.Bytes = k.Known.Receipt.ArchiveBytes
		result.Packages = append(result.Packages, k.Outcome)
		found[lockhashes.KeyOf(k.Selection, k.Platform)] = locked(k)
		if k.Err == nil && k.Known.Archive {
			known = append(known, k.Known)
		}
	}
	errs := v.dropUntrue(ctx, all)
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

// locked is what the lock file has to learn of a package. An archive that isn't
// signed is known to Terraform by an h1 in which directories count.
func locked(k archivedir.Kept) lockhashes.Package {
	rc := k.Known.Receipt
	p := lockhashes.Package{Outcome: event.Outcome{Selection: k.Selection, Platform: k.Platform, Err: k.Err}}.With(rc.Claims(), event.Fetched)
	if k.Known.Archive && !slices.Contains(slices.Concat(p.Hashes, k.Recorded), rc.ZH) {
		p.Hashes = hashing.Sort(append(p.Hashes, rc.ArchiveH1()))
	}
	return p
}
