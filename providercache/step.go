package providercache

import (
	"context"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// step is the installation of one selection, and its outcome.
type step struct {
	fetch.Request // its Package is set once the source has described it
	local         localPackage
	todo          todo
	warnings      []string // of the provider's registry
	bytes, about  int64    // of its archive: exact, and estimated; 0: unknown
	into          []*Store // stores to put the package into, in the order of preference: the cache, Target or both
	outcome       outcome
}

// unpacked reports whether the package is an unpacked directory on this machine, which Target links to.
func (s *step) unpacked() bool {
	_, unpacked := s.Package.Location.(getproviders.LocalDirectory)
	return unpacked
}

// todo is what remains to be done for a selection.
type todo int

const (
	nothing  todo = iota
	keep          // the package is in Target already
	linking       // it is in the cache
	fetching      // it has to be fetched
	caching       // it has to be fetched for the cache alone; there may be no Target
)

// newStep decides what to do for a selection, given the package on this machine.
func (in *Installer) newStep(ctx context.Context, selected getproviders.Selection, locks *depsfile.Locks, local localPackage) *step {
	s := &step{local: local, todo: fetching, Request: fetch.Request{
		Selection: selected, Recorded: resolve.Recorded(locks, selected), Partials: in.partials(), Final: in.packagePath(selected.Provider, selected.Version),
		Modes: []link.Mode{link.Symlink, link.Copy}, // an absolute link, as Terraform and OpenTofu make it, or a copy where the system allows no links
	}}
	held := store.Holds(selected.Provider, runtime.GOOS)
	switch {
	case held != nil:
		in.fail(ctx, s, s.Failed(during.Publish, held))
	case local.Refused != nil:
		in.fail(ctx, s, local.Refused)
	case local.Matches:
		s.todo = keep
	case local.Cached != nil:
		s.todo = linking
	}
	return s
}

// fail reports an error, and ends its step with it.
func (in *Installer) fail(ctx context.Context, s *step, err error) {
	s.fail(resolve.Fail(ctx, in.fetcher().Emit, s.Selection, err))
}

// fail ends a step with an error that has been reported.
func (s *step) fail(err error) {
	s.outcome, s.todo = outcome{Outcome: Outcome{Selection: resolve.AtVersionOf(s.Selection, err), State: event.Failed, Err: err}}, nothing
}

// steps are those of one installation, or some of them.
type steps []*step

// to returns the steps whose todo is one of do.
func (all steps) to(do ...todo) (some steps) {
	for _, s := range all {
		if slices.Contains(do, s.todo) {
			some = append(some, s)
		}
	}
	return some
}

func (all steps) selections() []getproviders.Selection {
	selections := []getproviders.Selection{} // never null in JSON
	for _, s := range all {
		selections = append(selections, s.Selection)
	}
	return selections
}

func (all steps) outcomes() (outcomes []outcome) {
	for _, s := range all {
		outcomes = append(outcomes, s.outcome)
	}
	return outcomes
}

// each works on many steps at once. A failure is reported when it happens, and ends its step.
func (in *Installer) each(ctx context.Context, all steps, do func(context.Context, *step) error) {
	_, errs := resolve.Map(ctx, in.fetcher().Emit, in.fetcher().Limits.Queries, all, func(ctx context.Context, s *step) (struct{}, error) {
		return struct{}{}, do(ctx, s)
	})
	for i, err := range errs {
		if err != nil {
			all[i].fail(err)
		}
	}
}
