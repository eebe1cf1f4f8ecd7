package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// localPackage is what Target and the cache hold of a selected package.
type localPackage struct {
	Exists     bool                // in Target
	Matches    bool                // it is what would be installed
	LockUpdate *receipt.Provenance // what the lock file has to record of it; nil: nothing
	Err        error               // why it couldn't be hashed
	Cached     *receipt.Provenance // the package in the cache, if it may be used; else nil
	Warnings   []string            // of the registry that the package in Target or in the cache came from
	Refused    error               // why the policy refuses the package in Target or in the cache

	Due []receipt.Pending // packages that were hashed and get a receipt, or whose receipt has to be renewed
}

// inspect looks for the selected packages in Target and, with withCache, also in the cache
// if Target's isn't acceptable. It inspects as many at once as there are cores. A package
// with a valid receipt isn't read; one that can't be read counts as damaged.
func (in *Installer) inspect(ctx context.Context, target store.View, selections []getproviders.Selection, locks *depsfile.Locks, withCache bool) map[getproviders.Provider]localPackage {
	i := inspector{in: in, target: target, cache: sync.OnceValue(in.cacheView), withCache: withCache && in.Cache != nil}
	// Packages that weren't inspected, because ctx ended, fail with that error in the next phase.
	seen, _ := par.Map(ctx, runtime.GOMAXPROCS(0), selections, func(ctx context.Context, s getproviders.Selection) (localPackage, error) {
		return i.inspect(ctx, fetch.Request{Selection: s, Recorded: resolve.Recorded(locks, s)}), nil
	})
	local := make(map[getproviders.Provider]localPackage, len(selections))
	for n, s := range selections {
		local[s.Provider] = seen[n]
	}
	return local
}

// inspector inspects packages with receipts that are read once;
// those of the cache are read when the first package needs them.
type inspector struct {
	in        *Installer
	target    store.View
	cache     func() store.View
	withCache bool // look in the cache, too
}

func (i inspector) inspect(ctx context.Context, t fetch.Request) localPackage {
	var local localPackage
	i.inspectTarget(ctx, t, &local)
	if local.Matches || !i.withCache {
		return local
	}
	found, due, err := i.identify(ctx, t, i.cache())
	local.Due = append(local.Due, due...)
	if err != nil || !i.in.isAcceptable(ctx, t, found) || i.in.isRuledOut(ctx, t.Selection) {
		return local
	}
	local.Cached, local.Warnings = &found, found.Warnings
	local.Refused = i.in.fetcher().Approve(ctx, t, getproviders.StateCached, found)
	return local
}

// isRuledOut reports whether the source certainly doesn't have a version. The cache may have it from a directory with
// another configuration, but where the user's configuration doesn't allow it, it isn't taken from there either.
func (in *Installer) isRuledOut(ctx context.Context, s getproviders.Selection) bool {
	source := in.fetcher().Source.Describe(s.Provider)
	return source.RulesOut != nil && source.RulesOut(ctx, s.Provider, s.Version) != nil
}

// inspectTarget inspects the package in Target.
func (i inspector) inspectTarget(ctx context.Context, t fetch.Request, local *localPackage) {
	dir := i.in.packagePath(t.Provider, t.Version)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := i.target
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if at.Own = nil; i.linksToCache(dir, t) { // packages outside of both have no receipts
			at = i.cache()
		}
	}
	found, due, err := i.identify(ctx, t, at)
	if errors.Is(err, fs.ErrNotExist) { // the link dangles
		return
	}
	local.Due = append(local.Due, due...)
	local.Exists, local.Err = true, err
	local.Matches = err == nil && i.in.isAcceptable(ctx, t, found)
	if local.Matches {
		local.Warnings = found.Warnings
		local.Refused = i.in.fetcher().Approve(ctx, t, getproviders.StatePresent, found)
	}
	if local.Matches && !slices.Contains(t.Recorded, found.H1) {
		local.LockUpdate = &found
	}
}

// linksToCache reports whether a link in Target leads to the package's path in the cache.
func (i inspector) linksToCache(dir string, t fetch.Request) bool {
	target, err := os.Readlink(dir)
	return err == nil && i.in.Cache != nil && target == i.in.cachePath(t.Selection)
}

// isAcceptable reports whether a package on this machine is as good as a fetched one: the lock file has one of its
// hashes or, if the lock file has none at all, the package came from the same source that would be asked now.
func (in *Installer) isAcceptable(ctx context.Context, t fetch.Request, p receipt.Provenance) bool {
	if len(t.Recorded) > 0 {
		return p.H1 != "" && slices.Contains(t.Recorded, p.H1) || p.ZH != "" && slices.Contains(t.Recorded, p.ZH)
	}
	return p.Origin != "" && p.Origin == in.sourceURL(ctx, t.Selection)
}

// sourceURL returns where a package would come from now; "" if the source doesn't tell. Errors
// are dropped: a source that fails here fails again when it is asked for the package.
func (in *Installer) sourceURL(ctx context.Context, s getproviders.Selection) string {
	source := in.fetcher().Source.Describe(s.Provider)
	if source.SourceURL == nil {
		return ""
	}
	origin, err := source.SourceURL(ctx, s.Provider, s.Version, in.fetcher().Platform)
	if err != nil {
		return ""
	}
	return origin
}

// identify finds out what a package is: from a valid receipt, else by hashing it. If no hash could prove that the
// package is the right one, it isn't read, and found is empty. due are packages that were hashed and get a receipt, or
// whose receipt has to be renewed. The error says why the package can't be read, or that it doesn't exist.
func (i inspector) identify(ctx context.Context, t fetch.Request, at store.View) (found receipt.Provenance, due []receipt.Pending, err error) {
	name := i.in.packageName(t.Selection)
	if rc, ok := i.byReceipt(at, name); ok {
		return rc.Claims(), i.renewal(name, rc), nil
	}
	if at.IsSame(i.target) && i.sharesCacheFiles(t) {
		at = i.cache()
	}
	made, known := at.Find(name)
	claimed := made.Claims()
	if len(resolve.OfScheme(t.Recorded, hashing.H1)) == 0 && !(known && i.in.isAcceptable(ctx, t, claimed)) {
		_, err := os.Stat(at.Path(name))
		return found, nil, err
	}
	h1, record, err := i.in.hashPackage(ctx, t.Selection, at)
	if err != nil {
		return found, nil, err
	}
	found = receipt.Provenance{H1: h1}
	if known && claimed.H1 == h1 {
		found = claimed
	}
	if found.H1 == claimed.H1 || slices.Contains(t.Recorded, h1) { // else its old receipt stays, and still shows the damage
		due = append(due, receipt.Pending{Name: name, Dir: at.Path(name), Shared: at.IsSame(i.cache()), Receipt: found.Receipt(record)})
	}
	return found, due, nil
}

// byReceipt identifies a package without reading it. A package in Target may consist of hard links
// to the cache's files. When another directory links the same files, or is deleted, their ctime
// changes, which invalidates the receipt of this Target, but not that of the cache.
func (i inspector) byReceipt(at store.View, name string) (found receipt.Receipt, ok bool) {
	if i.in.fetcher().Verify {
		return found, false
	}
	if found, ok := at.Known(name); ok {
		return found, true
	}
	if !at.IsSame(i.target) {
		return found, false
	}
	return at.LinkedFrom(i.cache(), name)
}

// renewal returns a package of the cache whose files have other ctimes than its receipt records.
// The receipt still counts, but is renewed, so that it also counts under StrictTimes.
func (i inspector) renewal(name string, rc receipt.Receipt) []receipt.Pending {
	if !rc.Moved() {
		return nil
	}
	return []receipt.Pending{{Name: name, Dir: i.cache().Path(name), Shared: true, Linked: true, Receipt: rc}}
}

// sharesCacheFiles reports whether a package in Target consists of hard links to the cache's files. Such a package is
// hashed in the cache, because that renews the cache's receipt, which serves all directories with these files.
func (i inspector) sharesCacheFiles(t fetch.Request) bool {
	if i.in.fetcher().Verify || i.cache().Own == nil {
		return false
	}
	here, err := receipt.TakeRecord(i.in.packagePath(t.Provider, t.Version))
	if err != nil {
		return false
	}
	there, err := receipt.TakeRecord(i.in.cachePath(t.Selection))
	return err == nil && here.SameFiles(there)
}

// hashPackage hashes a package. The record has the stat of its files from before the hashing.
func (in *Installer) hashPackage(ctx context.Context, s getproviders.Selection, at store.View) (getproviders.Hash, receipt.StatRecord, error) {
	dir := at.Path(in.packageName(s))
	began := in.fetcher().Now()
	record, err := receipt.TakeRecord(dir)
	record.ReadFrom = began
	of := Outcome{Selection: s, Path: dir}
	if !errors.Is(err, fs.ErrNotExist) {
		in.fetcher().Emit(ctx, event.Event{Kind: event.Hashing, Outcome: of})
	}
	h1, err := treehash.DirProgress(ctx, dir, in.fetcher().EmitHashing(ctx, of))
	return h1, record, err
}

// Outcome is the result for one package.
type Outcome = event.Outcome

// outcome is the result for a selection. Authentication and H1 are what the lock file has to record
// of the package, so they are zero if the lock file already records a package in Target.
type outcome struct {
	Outcome
	registryHashes map[getproviders.Platform]getproviders.Hash // of other platforms, unsigned, if the HashPolicy trusts them
	receipt        receipt.Pending                             // the receipt to write
}

// Report is the result of an Install, sorted by provider.
type Report struct {
	Outcomes []Outcome
	// Incomplete lists providers whose new lock entries hold hashes of this platform only, as
	// far as is known: no signature covers those of others, and the lock file had none.
	Incomplete []getproviders.Provider
}
