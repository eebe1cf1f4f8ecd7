package providercache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// MirrorOptions says what a mirror is to be like.
type MirrorOptions struct {
	Dir string // where it is; made if it isn't there

	// Platforms are those of the packages; nil: the Installer's. AllPlatforms adds
	// those that the Source lists for each version.
	Platforms    []getproviders.Platform
	AllPlatforms bool

	// Prune removes packages that aren't wanted, whoever put them there, with
	// what the indexes say of them. If anything fails, nothing is removed.
	// PruneGrace is for how long somebody may go by what he has read before: until
	// the indexes have been without a package for that long, by their times, it is
	// still there, and a later run with Prune removes it. 0: it goes at once.
	Prune      bool
	PruneGrace time.Duration
}

// MirrorWanted is a provider that the mirror is to hold. The Hashes are those of
// a lock file: a package in the mirror that has one of them is genuine without
// the Source being asked. Other packages needn't have one.
type MirrorWanted struct {
	resolve.PackageSpec
	Locked      bool // the Version is a lock file's
	AllVersions bool // all that the Constraints allow; counts only without a Version
}

// Mirrored is a package of the mirror.
type Mirrored struct {
	Selection      resolve.Selection
	Platform       getproviders.Platform
	Path           string                            // of the archive
	Present        bool                              // it was there already
	Authentication getproviders.AuthenticationResult // zero for what was there, and for what nobody vouches for
	Err            error
}

// MirrorResult is what became of a mirror.
type MirrorResult struct {
	Packages []Mirrored // in the order of providers, versions and platforms, failures included
	Pruned   []string   // slash-separated paths below the mirror's directory, sorted
	Waiting  []string   // such paths of archives that will be removed and aren't listed any more
}

// MirrorError says that the indexes of a mirror can't tell of something that is
// in it, or couldn't be written.
type MirrorError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *MirrorError) Error() string { return fmt.Sprintf("indexing %s: %v", e.Path, e.Err) }

// Code is "mirror_index".
func (e *MirrorError) Code() string { return "mirror_index" }

// Unwrap returns the cause.
func (e *MirrorError) Unwrap() error { return e.Err }

type (
	// MirrorBegin comes first: these packages are going to be in the mirror.
	MirrorBegin struct{ Packages []Mirrored }
	// MirrorFetch comes when a package is going to be fetched. Local: it is on this
	// machine.
	MirrorFetch struct {
		Package Mirrored
		Local   bool
	}
	// MirrorDone comes when a package is there, or Err in it says why it isn't.
	MirrorDone struct{ Package Mirrored }
)

func (MirrorBegin) Provider() getproviders.Provider   { return getproviders.Provider{} }
func (e MirrorFetch) Provider() getproviders.Provider { return e.Package.Selection.Provider }
func (e MirrorDone) Provider() getproviders.Provider  { return e.Package.Selection.Provider }

// Mirror fills a directory with packages as they are, packed, and writes the
// indexes by which a web server of static files becomes a network mirror. It is
// the tree that the real tools write, and what is in it already stays.
//
// A package is fetched unless it is there: an archive that the Source, or a lock
// file, vouches for. Which archives those are is known from receipts in
// StateDir, or from reading them. None is ever unpacked; each is checked in a
// directory of its own, and put into its place by one rename.
//
// What the Source has to show for the packages of a version, a signed list of their
// checksums, is kept beside them, with the keys (see getproviders.ChecksumsName):
// who installs from the mirror can judge them by it. It isn't asked for again.
//
// Indexes are written last, each by one rename, and nothing is listed before it
// is there: whoever reads the mirror in the meantime, or after a process was
// killed, sees one that is whole. An archive whose bytes are replaced is taken
// out of the index first. Pruning is in the reverse order, and waits for clients
// that have read an index before, for PruneGrace. A run without Prune, or one in
// which anything fails, lists again what waits.
//
// All packages are attempted, and the indexes tell of what is there. The error
// joins a *ProviderError for each package that failed, in which there is a
// *PlatformError if a version was chosen, and a *MirrorError for each index.
func Mirror(ctx context.Context, f *fetcher.Fetcher, opts MirrorOptions, wanted []MirrorWanted) (MirrorResult, error) {
	switch {
	case f.Source == nil:
		return MirrorResult{}, errors.New("an Installer needs a Source")
	case opts.Prune && len(wanted) == 0:
		return MirrorResult{}, errors.New("no package is wanted, and to remove all others would leave an empty mirror")
	}
	if err := makeMirror(opts.Dir); err != nil {
		return MirrorResult{}, err
	}
	scratch.Sweep(opts.Dir, f.Time())
	m := &mirror{dir: archiveDir{f, opts.Dir, receipt.OpenArchives(f.EffectiveStateDir(), opts.Dir)}, opts: opts}
	packages, errs := m.choose(ctx, wanted)
	f.Emit(ctx, MirrorBegin{Packages: mirroredOf(packages)})
	kept := m.fetchAll(ctx, packages)
	defer removeStages(kept)
	result := MirrorResult{}
	for _, k := range kept {
		result.Packages = append(result.Packages, k.Mirrored)
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

// makeMirror makes sure that there is a directory.
func makeMirror(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("a mirror is a directory, and %s is not", dir)
	}
	if _, err := scratch.MakeDirs(dir); err != nil {
		return fmt.Errorf("making the mirror's directory: %w", err)
	}
	return nil
}

// archiveDir is a directory of packed packages, a mirror's or a repository's.
type archiveDir struct {
	fetcher  *fetcher.Fetcher
	root     string
	receipts receipt.ArchiveReceipts
}

// mirror is one run of Mirror.
type mirror struct {
	dir  archiveDir
	opts MirrorOptions
}

// mirrorPackage is a package that is wanted.
type mirrorPackage struct {
	Mirrored
	name     string              // of the archive, slash-separated, below the mirror's directory
	recorded []getproviders.Hash // by lock files
}

func (p mirrorPackage) Selected() resolve.Selection { return p.Selection }

// mirrorKept is what became of it.
type mirrorKept struct {
	mirrorPackage
	known receipt.Pending // zero if it failed
	stage *staging.Stage  // has the archive, if it takes the place of another one; nil: it is in its place

	documents *getproviders.SignedDocuments // about its version; nil: there are none, or those that are there do
}

func mirroredOf(packages []mirrorPackage) (all []Mirrored) {
	for _, p := range packages {
		all = append(all, p.Mirrored)
	}
	return all
}

func removeStages(kept []mirrorKept) {
	for _, k := range kept {
		if k.stage != nil {
			k.stage.Remove()
		}
	}
}

// path is where something of the mirror is.
func (d *archiveDir) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }
