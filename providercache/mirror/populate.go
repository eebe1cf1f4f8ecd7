// Package mirror fills a directory, a bucket or a registry with packed packages for others
// to install from. A directory becomes a filesystem mirror, and, by the indexes that are
// written, a network mirror on any web server of static files.
//
//	f := &providercache.Fetcher{Source: source}
//	specs := []mirror.Spec{{PackageSpec: getproviders.PackageSpec{Provider: provider}}}
//	result, err := mirror.Update(ctx, f, mirror.Directory("mirror"), specs, mirror.Options{})
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
//
// [Vendor] puts packages into the working directory that needs them, and [Push] those of a cache where other machines find them.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

// Options says what a mirror is to be like.
type Options struct {
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

	// Verify reads each package that is there, and compares it with what documents and receipts
	// say of it. One that is damaged is fetched again. In a registry nothing can be replaced: there
	// it is an error.
	Verify bool
}

// Spec is a provider that the mirror is to hold. The Hashes are those of
// a lock file: a package in the mirror that has one of them is kept without
// asking the Source. Other packages needn't have one.
type Spec struct {
	getproviders.PackageSpec
	Locked      bool // the Version is a lock file's
	AllVersions bool // all that the Constraints allow; counts only without a Version
}

// Result is what became of a mirror.
type Result struct {
	Packages []event.Outcome // in the order of providers, versions and platforms, failures included
	Pruned   []string        // slash-separated paths below the mirror's directory, sorted
	Waiting  []string        // such paths of archives that will be removed and aren't listed any more
}

// Update has packages in a destination as they are, packed, and has its documents list
// them. What is there already stays.
//
// A package is fetched unless an archive is there that the Source, or a lock file,
// knows by its hash. None is ever unpacked; each is checked in a directory of its own
// before it is put into its place.
//
// The signed list of checksums that the Source has for a version is kept beside its
// packages, with the keys (see layout.ChecksumsName):
// an installation from the mirror can verify them by it. It is asked for once.
//
// Documents are written last, and nothing is listed before it is there: a client that
// reads the mirror in the meantime, or after a process was killed, sees one that is
// whole. Pruning is in the reverse order, and waits for clients
// that have read an index before, for PruneGrace. A run without Prune, or one in
// which anything fails, lists again what waits.
//
// All packages are attempted, and the documents list what is there. The error
// joins a *getproviders.Fault for each package that failed, which names the platform if a
// version was chosen, and one for each document.
func Update(ctx context.Context, f *providercache.Fetcher, to Destination, wanted []Spec, opts Options) (Result, error) {
	if opts.Prune && len(wanted) == 0 {
		return Result{}, errors.New("no package is wanted, and to remove all others would leave an empty mirror")
	}
	m := &run{dir: archivedir.Dir{Fetcher: f.Opened()}, opts: opts, close: func() {}}
	if err := to.open(m); err != nil {
		return Result{}, err
	}
	defer m.close()
	packages, errs := m.choose(ctx, wanted)
	m.dir.Fetcher.Emit(ctx, event.Event{Kind: event.Queued, Packages: archivedir.PackagesOf(packages)})
	if err := m.look(ctx, packages); err != nil {
		return Result{Packages: archivedir.PackagesOf(packages)}, errors.Join(append(errs, err)...)
	}
	groups := slices.Collect(slices.Chunk(packages, 1))
	if m.byVersions {
		groups = byVersion(packages)
	}
	kept := m.dir.Populate(ctx, m, groups)
	defer archivedir.RemoveStages(kept)
	result := Result{}
	for _, k := range kept {
		result.Packages = append(result.Packages, k.Outcome)
		errs = append(errs, k.Err)
	}
	slices.SortStableFunc(errs, lockhashes.ByProvider)
	if ctx.Err() == nil && m.tree != nil {
		done := m.publish(ctx, kept, opts.Prune && errors.Join(errs...) == nil)
		result.Pruned, result.Waiting = done.pruned, done.waiting
		errs = append(errs, done.errs...)
	}
	return result, errors.Join(errs...)
}

// byVersion has the packages of each version together, which come one after the other.
func byVersion(packages []archivedir.Item) (groups [][]archivedir.Item) {
	for i, p := range packages {
		if i == 0 || releaseOf(packages[i-1]) != releaseOf(p) {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
	}
	return groups
}

// Find implements archivedir.Destination. With Verify, it reads an archive that is there, and the claim has none if that is damaged.
func (m *run) Find(ctx context.Context, p *archivedir.Item) (c archivedir.Claim, err error) {
	if c, err = m.find(ctx, *p); err != nil || c.Open == nil || !m.opts.Verify {
		return c, err
	}
	m.dir.Fetcher.EmitPhase(ctx, event.Outcome{Selection: p.Selection, Platform: p.Platform}, event.Verifying)
	known := c.Known.Receipt
	is := known.ZH
	if !c.Read {
		content, err := c.Open(ctx)
		if err != nil {
			return c, p.Selection.Failed(during.Fetch, err)
		}
		defer content.Close()
		sum, _, err := chunks.SHA256(ctx, content)
		if err != nil {
			return c, p.Selection.Failed(during.Fetch, err)
		}
		is = getproviders.ZH(sum)
	}
	switch {
	case c.Has != nil && known.ZH == "": // it is compared with what is fetched
		return archivedir.Claim{}, nil
	case c.Has != nil && is == known.ZH && (c.Listed == nil || slices.ContainsFunc(c.Listed, c.Has)):
		return c, nil
	}
	p.Damaged = true
	if m.byVersions {
		return c, p.Selection.Failed(during.Publish, fmt.Errorf("%s has other bytes for %s than it says (%s in place of %s), and nothing is replaced in a registry: "+
			"remove the version with the registry's own tools, and run this again", p.Path, p.Platform, is, known.ZH))
	}
	return archivedir.Claim{Lost: known.ZH}, nil
}
