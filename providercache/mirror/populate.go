// Package mirror fills a directory, a bucket or a registry with packed packages for others to install from. A directory
// becomes a filesystem mirror and, because indexes are written, also a network mirror on any web server of static files.
//
//	f := &providercache.Fetcher{Source: source}
//	specs := []mirror.Spec{{PackageSpec: getproviders.PackageSpec{Provider: provider}}}
//	result, err := mirror.Update(ctx, f, mirror.Directory("mirror"), specs, mirror.Options{})
//
// The tree is Terraform's, byte for byte (see the network mirror protocol). Beside the archives are the signed lists of their
// checksums, which Terraform ignores and tfdeps verifies. The mirror may be served meanwhile: an archive is renamed into
// place before an index lists it; a list of checksums is written before its signature, and removed after it; the document
// about a version is written before the list of versions that names it. An archive whose bytes have to change is first
// removed from its document. So everything that is listed exists, at every moment, even if the process is killed. Removal
// goes in the reverse order, and leaves clients that have read the old indexes time to fetch the archives.
//
// [Vendor] puts packages into the working directory that needs them.
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

// Options configure Update.
type Options struct {
	// Platforms are those of the packages; nil: the Fetcher's. AllPlatforms adds
	// those that the Source lists for each version.
	Platforms    []getproviders.Platform
	AllPlatforms bool

	// Prune removes packages that aren't wanted, also those that other programs put there, and their
	// entries in the indexes. If anything fails, nothing is removed. PruneGrace is how long clients may go
	// on using an index that they have read: an archive is removed by a run with Prune when the times of
	// the indexes show that they haven't listed it for that long. 0: it is removed at once.
	Prune      bool
	PruneGrace time.Duration

	// Verify reads each package in the mirror, and compares it with the hashes in documents and receipts. A
	// damaged package is fetched again. A registry can't replace anything: there it is an error.
	Verify bool
}

// Spec is a provider that the mirror is to hold. Its Hashes are those of a lock file: a package in the
// mirror with one of them is kept without asking the Source. Packages to fetch need not have one.
type Spec struct {
	getproviders.PackageSpec
	Locked      bool // the Version is a lock file's
	AllVersions bool // all that the Constraints allow; counts only without a Version

	// Requirements are those that the Constraints come from. If no version satisfies them, the error names their places; nil: it names none.
	Requirements []getproviders.Requirement
}

// Result is the result of Update.
type Result struct {
	Packages []event.Outcome // sorted by provider, version and platform, including failed ones
	Pruned   []string        // slash-separated paths below the mirror's directory, sorted
	Waiting  []string        // such paths of archives that no index lists any more, and that a later run removes
}

// Update puts wanted packages, as archives, into a destination, and
// lists them in its documents. Archives that are there already stay.
//
// A package is fetched unless an archive is there whose hash the Source or a lock file knows.
// Packages are never unpacked; each is checked in a private directory before it is published.
//
// The Source's signed list of checksums for a version is kept beside its packages, with the keys, so that an installation from the
// mirror can verify them. It is requested once.
//
// Documents are written last and list only archives that exist: a client that reads the mirror meanwhile, or after the
// process was killed, sees a complete mirror. Pruning goes in the reverse order, and waits PruneGrace for clients that
// have read an old index. A run without Prune, or with any failure, lists the waiting archives again.
//
// All that metadata can tell is asked for before the first archive: if a provider, a version or a package isn't there, no archive is
// requested. Versions and platforms that only AllVersions and AllPlatforms name don't count here: what a registry lists without having it stops
// no others. A failure of one archive doesn't stop others either, and the documents list what exists. The error joins a *getproviders.Fault for
// each package that failed, which names the platform if a version was chosen, and one for each document.
func Update(ctx context.Context, f *providercache.Fetcher, to Destination, wanted []Spec, opts Options) (Result, error) {
	if opts.Prune && len(wanted) == 0 {
		return Result{}, errors.New("no package is wanted, and to remove all others would leave an empty mirror")
	}
	m := &run{dir: archivedir.Dir{Fetcher: f.Opened()}, opts: opts, close: func() {}, abandon: func() {}}
	if err := to.open(m); err != nil {
		return Result{}, err
	}
	defer m.close()
	result, errs := m.fill(ctx, wanted)

	err := errors.Join(errs...)
	if err != nil {
		m.abandon()
	}

	return result, err
}

// fill chooses the packages, and puts them into the place.
func (m *run) fill(ctx context.Context, wanted []Spec) (result Result, errs []error) {
	packages, errs := m.choose(ctx, wanted)
	m.dir.Fetcher.Emit(ctx, event.Event{Kind: event.Queued, Packages: archivedir.PackagesOf(packages)})

	err := m.look(ctx, packages)
	if err != nil {
		return Result{Packages: archivedir.PackagesOf(packages)}, append(errs, err)
	}

	groups := slices.Collect(slices.Chunk(packages, 1))
	if m.byVersions {
		groups = byVersion(packages)
	}

	hasFailed := len(errs) > 0
	kept := m.dir.Populate(ctx, m, groups, hasFailed)
	defer archivedir.RemoveStages(kept)

	for _, k := range kept {
		result.Packages = append(result.Packages, k.Outcome)
		errs = append(errs, k.Err)
	}
	slices.SortStableFunc(errs, lockhashes.ByProvider)

	if ctx.Err() == nil && m.tree != nil {
		tried := slices.DeleteFunc(slices.Clone(kept), func(k archivedir.Kept) bool { return k.State == event.NotTried })
		done := m.publish(ctx, tried, m.opts.Prune && errors.Join(errs...) == nil)
		result.Pruned, result.Waiting = done.pruned, done.waiting
		errs = append(errs, done.errs...)
	}

	return result, errs
}

// byVersion groups the packages by version; those of a version have to be adjacent.
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

// Find implements archivedir.Destination. With Verify, it reads an existing archive, and claims none if that is damaged.
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
	case c.Has != nil && known.ZH == "": // its receipt has no zh: it is fetched and compared
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
