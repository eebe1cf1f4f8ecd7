// Package mirror fills a directory with packed packages for others to install from: a
// filesystem mirror, and, by the indexes that it writes, a network mirror on any web
// server of static files.
//
//	f := &fetcher.Fetcher{Source: source}
//	specs := []mirror.Spec{{PackageSpec: resolve.PackageSpec{Provider: provider}}}
//	result, err := mirror.Update(ctx, f, mirror.Options{Dir: "mirror"}, specs)
//
// The tree is Terraform's, byte for byte (see the network mirror protocol), and beside
// the archives are the signed lists of their checksums, which Terraform ignores and
// tfdeps verifies. The mirror may be served meanwhile: an archive gets into its place
// by one rename, before an index lists it; a list of checksums comes with its signature
// last, and goes with it first; the document about a version comes before the list of
// versions that names it. An archive whose bytes have to change is first taken out of
// its document. So at every moment, and after a process was killed at any, what is
// listed is there. For what is removed, the order is the reverse, and between the
// indexes and the archives there is time for those who have read the indexes before.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Options says what a mirror is to be like.
type Options struct {
	Dir string // where it is; made if it isn't there. UpdateBucket doesn't look at it

	// Platforms are those of the packages; nil: the Fetcher's. AllPlatforms adds
	// those that the Source lists for each version.
	Platforms    []getproviders.Platform
	AllPlatforms bool

	// Prune removes packages that aren't wanted, also those that other programs put there, with
	// what the indexes say of them. If anything fails, nothing is removed.
	// PruneGrace is for how long a client may use an index that it has read before:
	// until the indexes have been without a package for that long, by their times, the
	// package stays, and a later run with Prune removes it. 0: it goes at once.
	Prune      bool
	PruneGrace time.Duration
}

// Spec is a provider that the mirror is to hold. The Hashes are those of
// a lock file: a package in the mirror that has one of them is kept without
// asking the Source. Other packages needn't have one.
type Spec struct {
	resolve.PackageSpec
	Locked      bool // the Version is a lock file's
	AllVersions bool // all that the Constraints allow; counts only without a Version
}

// Result is what became of a mirror.
type Result struct {
	Packages []archivedir.Package // in the order of providers, versions and platforms, failures included
	Pruned   []string             // slash-separated paths below the mirror's directory, sorted
	Waiting  []string             // such paths of archives that will be removed and aren't listed any more
}

// Update fills a directory with packages as they are, packed, and writes the
// indexes by which a web server of static files becomes a network mirror. It is
// the tree that Terraform writes, and what is in it already stays.
//
// A package is fetched unless an archive is there that the Source, or a lock file,
// knows by its hash. What an archive is, is known from receipts in the Fetcher's
// StateDir, or from reading it. None is ever unpacked; each is checked in a
// directory of its own, and put into its place by one rename.
//
// The signed list of checksums that the Source has for a version is kept beside its
// packages, with the keys (see getproviders.ChecksumsName):
// an installation from the mirror can verify them by it. It is asked for once.
//
// Indexes are written last, each by one rename, and nothing is listed before it
// is there: a client that reads the mirror in the meantime, or after a process was
// killed, sees one that is whole. An archive whose bytes are replaced is taken
// out of the index first. Pruning is in the reverse order, and waits for clients
// that have read an index before, for PruneGrace. A run without Prune, or one in
// which anything fails, lists again what waits.
//
// All packages are attempted, and the indexes list what is there. The error
// joins a *ProviderError for each package that failed, in which there is a
// *PlatformError if a version was chosen, and a *Error for each index.
func Update(ctx context.Context, f *fetcher.Fetcher, opts Options, wanted []Spec) (Result, error) {
	switch {
	case f.Source == nil:
		return Result{}, errors.New("a Fetcher needs a Source")
	case opts.Prune && len(wanted) == 0:
		return Result{}, errNothingWanted
	}
	if err := makeMirror(opts.Dir); err != nil {
		return Result{}, err
	}
	scratch.Sweep(opts.Dir, f.Time())
	m := &mirror{dir: archivedir.Dir{Fetcher: f, Root: opts.Dir, Receipts: receipt.OpenArchives(f.EffectiveStateDir(), opts.Dir)}, opts: opts}
	m.path = m.dir.Path
	packages, errs := m.choose(ctx, wanted)
	f.Emit(ctx, archivedir.QueuedEvent{Packages: archivedir.PackagesOf(packages)})
	kept := m.fetchAll(ctx, packages)
	defer archivedir.RemoveStages(kept)
	result := Result{}
	for _, k := range kept {
		k.Bytes = k.Known.Receipt.ArchiveBytes
		result.Packages = append(result.Packages, k.Package)
		errs = append(errs, k.Err)
	}
	slices.SortStableFunc(errs, lockhashes.ByProvider)
	if ctx.Err() != nil {
		return result, errors.Join(errs...)
	}
	done := m.publish(ctx, kept, errors.Join(errs...) == nil)
	result.Pruned, result.Waiting = done.pruned, done.waiting
	return result, errors.Join(append(errs, done.errs...)...)
}

var errNothingWanted = errors.New("no package is wanted, and to remove all others would leave an empty mirror")

// makeMirror makes sure that there is a directory.
func makeMirror(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("a mirror is a directory, and %s is a file: name another path", dir)
	}
	if _, err := scratch.MakeDirs(dir); err != nil {
		return fmt.Errorf("the mirror's directory can't be made: %w. Name one that this user may write to", err)
	}
	return nil
}

// mirror is one run of Update.
type mirror struct {
	dir  archivedir.Dir
	opts Options
	path func(name string) string // where a package is, for people
}
