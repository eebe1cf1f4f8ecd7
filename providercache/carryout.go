package providercache

import (
	"cmp"
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// carryOut carries out the steps and sets the outcome of each. It checks metadata and
// directories first: if any provider can't be installed, no archive is requested or
// unpacked. Packages that are unpacked on this machine are installed nevertheless.
func (in *Installer) carryOut(ctx context.Context, all steps, target store.View) {
	in.recordDue(ctx, all)
	in.noteUses(ctx, all, target)
	link, fetch := all.to(linking), all.to(fetching)
	if len(link)+len(fetch) == 0 {
		in.sweep()
		in.reportPresent(ctx, all.to(keep))
		return
	}
	blocked, done := in.openTarget(ctx, slices.Concat(link, fetch))
	defer done()
	in.reportPresent(ctx, all.to(keep))
	in.each(ctx, fetch, in.describe) // also if Target is blocked, because errors of the source tell more
	in.nameDamaged(fetch)
	if blocked {
		return
	}
	in.link(ctx, link)
	gone := link.to(linking)
	in.each(ctx, gone, in.describe)
	tasks := slices.Concat(fetch, gone).to(fetching, linking)
	if slices.ContainsFunc(all, func(s *step) bool { return s.outcome.Err != nil }) {
		tasks = in.withhold(ctx, tasks)
	}
	in.measure(tasks)
	in.fetch(ctx, largestFirst(tasks))
	in.recordPublished(ctx, all)
}

// noteUses records which packages of the cache Target uses, and is going to use.
func (in *Installer) noteUses(ctx context.Context, all steps, target store.View) {
	if in.Cache != nil {
		store.NoteUses(ctx, in.Cache, store.Uses{
			State: in.fetcher().StateDir, Target: target, Present: in.packageNames(all.to(keep)),
			Due: in.packageNames(all.to(linking, fetching)), Link: in.linkModes()[0] == link.Symlink,
		}, in.fetcher().Now())
	}
}

// sweep removes what killed processes left behind.
func (in *Installer) sweep() {
	scratch.Sweep(in.Target.Dir, in.fetcher().Now())
	if in.Cache != nil {
		scratch.Sweep(in.Cache.Dir, in.fetcher().Now())
	}
}

// openTarget makes Target, and checks that packages can be put there. If not, it is blocked, and
// all steps fail for the same reason. done removes the directory if it stayed empty.
func (in *Installer) openTarget(ctx context.Context, all steps) (blocked bool, done func()) {
	made, err := disk.Probe(in.Target.Dir)
	if err == nil {
		in.sweep()
		return false, func() { scratch.RemoveEmpty(made) }
	}
	scratch.RemoveEmpty(made)
	var blockedFor []getproviders.Provider
	for _, s := range all {
		blockedFor = append(blockedFor, s.Provider)
	}
	cause := cause.Unwritable(in.Target.Dir, blockedFor, err)
	for _, s := range all {
		in.fail(ctx, s, s.Failed(during.Publish, cause))
	}
	return true, func() {}
}

// withhold ends the steps that would have to unpack an archive,
// because other providers have failed or the context has ended.
func (in *Installer) withhold(ctx context.Context, tasks steps) (rest steps) {
	for _, s := range tasks {
		switch {
		case s.unpacked():
			rest = append(rest, s)
		case ctx.Err() != nil:
			in.fail(ctx, s, context.Cause(ctx))
		default:
			s.outcome = outcome{Outcome: Outcome{Selection: s.Selection, State: event.NotTried}}
		}
	}
	return rest
}

// reportPresent reports packages that are in Target already, and
// notes what the lock file has to record of them.
func (in *Installer) reportPresent(ctx context.Context, present steps) {
	for _, s := range present {
		s.outcome.Outcome = Outcome{Selection: s.Selection, State: event.Present}
		in.fetcher().Emit(ctx, event.Event{Kind: event.Done, Outcome: s.outcome.Outcome})
		if news := s.local.LockUpdate; news != nil {
			s.outcome.Authentication, s.outcome.H1, s.outcome.registryHashes = news.Authentication, news.H1, in.fetcher().TrustedHashes(s.Provider, news.RegistryHashes)
		}
	}
}

// describe asks the source where a package is. The order of downloads is chosen by the answers.
func (in *Installer) describe(ctx context.Context, s *step) error {
	return in.fetcher().Describe(ctx, &s.Request, in.fetcher().Platform)
}

// nameDamaged adds to each NotCachedError the package in Target
// that isn't what the lock file records.
func (in *Installer) nameDamaged(all steps) {
	for _, s := range all {
		hashed := len(resolve.OfScheme(s.Recorded, hashing.H1)) > 0 // without an h1, it is unknown whether the package is damaged
		if !s.local.Exists || !hashed {
			continue
		}
		for _, absent := range wrapped.As[*getproviders.NotCachedError](s.outcome.Err) {
			absent.Damaged = in.packagePath(s.Provider, s.Version)
		}
	}
}

// fetch fetches the packages, many at once. They wait for download
// slots and for unpackers in the order of tasks.
func (in *Installer) fetch(ctx context.Context, tasks steps) {
	if len(tasks) == 0 {
		return
	}
	into := []*Store{in.Target}
	if in.Cache != nil {
		made, err := disk.Probe(in.Cache.Dir)
		defer func() { scratch.RemoveEmpty(made) }()
		download.SweepPartials(in.partials(), in.fetcher().Now())
		if err == nil {
			into = []*Store{in.Cache, in.Target}
		}
	}
	for _, s := range tasks {
		s.into = into
		if s.unpacked() { // a cache would gain nothing
			s.into = into[len(into)-1:]
		}
	}
	refused := in.reserve(ctx, in.findRoom(into), tasks)
	downloads, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	get := func(ctx context.Context, t fetch.Request, stage *staging.Stage) (receipt.Provenance, error) {
		got, err := in.fetcher().Fetch(downloads, t, stage)
		return got, endAll(ctx, downloads, stop, t, err)
	}
	in.each(ctx, tasks, func(ctx context.Context, s *step) error {
		if refused != nil {
			return s.Failed(during.Fetch, refused)
		}
		return in.fetchOne(ctx, s, get)
	})
	sharedFailures(tasks)
}

// largestFirst puts the slowest first, so that the last download doesn't leave the other cores idle
// for long. The network is slow, so archives of unknown size come first, in the order of providers.
func largestFirst(tasks steps) steps {
	return slices.SortedStableFunc(slices.Values(tasks), func(a, b *step) int { return cmp.Compare(b.about, a.about) })
}

func (in *Installer) packageNames(all steps) (names []string) {
	for _, s := range all {
		names = append(names, in.packageName(s.Selection))
	}
	return names
}
