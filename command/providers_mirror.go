package command

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// ProvidersMirrorCommand fills a directory with packages for others to install
// from. What test files require is in the mirror, too, because init needs it;
// the real tool leaves it out.
type ProvidersMirrorCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *ProvidersMirrorCommand) Synopsis() string {
	return "Save local copies of all required provider plugins"
}

// Run carries the command out and returns the exit code.
func (c *ProvidersMirrorCommand) Run(args []string) int {
	opts, err := parseMirror(args)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	product, problems := c.Meta.productOf()
	run := &mirrorRun{
		lockRun: lockRun{Meta: c.Meta, opts: opts.lockOptions, product: product},
		opts:    opts, view: view.NewMirror(c.Meta.viewOptions(product, false)),
	}
	defer run.removeTemporary()
	return carryOut(append(opts.problems, problems...), run.all, run.view.Problems)
}

// mirrorRun is one run of providers mirror. It reads directories as providers
// lock does.
type mirrorRun struct {
	lockRun
	opts   mirrorOptions
	view   *view.Mirror
	wanted []providercache.MirrorWanted
}

// all does what the command is for, and returns what there is to say at the end.
func (r *mirrorRun) all() (problems view.Problems) {
	phases := []func() view.Problems{r.connect, r.wantListed, r.wantLocked}
	if r.opts.readsConfiguration() {
		phases = append(phases, r.findDirs, r.readDirs, r.wantRequired)
	}
	for _, phase := range phases {
		if problems = append(problems, phase()...); problems.HasErrors() {
			return problems
		}
	}
	return append(problems, r.mirror()...)
}

func (r *mirrorRun) wantListed() view.Problems {
	listed, problems := r.opts.listed(r.product)
	r.wanted = append(r.wanted, listed...)
	return problems
}

// wantLocked wants what the lock files select that -locked names.
func (r *mirrorRun) wantLocked() view.Problems {
	locked, problems := readLocked(r.opts.locked, r.unversioned())
	for _, w := range providercache.WantedBy(locked) {
		r.wanted = append(r.wanted, providercache.MirrorWanted{Wanted: w, Locked: true})
	}
	return problems
}

// wantRequired wants what the configurations of all directories require.
func (r *mirrorRun) wantRequired() (problems view.Problems) {
	skipped := map[getproviders.Provider]bool{}
	for _, d := range r.dirs {
		for _, p := range d.required.Providers() {
			if p.IsBuiltIn() && !skipped[p] {
				skipped[p] = true
				r.view.Skip(p)
			}
			if p.IsBuiltIn() {
				continue
			}
			w, reason := r.want(d, p)
			if reason != "" {
				problems = append(problems, view.LockedMismatch(r.product, d.dir, reason))
				continue
			}
			r.wanted = append(r.wanted, w)
		}
	}
	return problems
}

// want is what a directory needs of a provider. reason: why its lock file
// doesn't fit.
func (r *mirrorRun) want(d *lockDir, p getproviders.Provider) (w providercache.MirrorWanted, reason string) {
	w.Provider, w.Constraints, w.AllVersions = p, d.required.Constraints(p), r.opts.allVersions
	if !r.opts.lockFile || d.locks.Empty() || w.AllVersions {
		return w, ""
	}
	lock, ok := d.locks.Provider(p)
	switch {
	case !ok:
		return w, fmt.Sprintf("provider %s: required by this configuration but no version is selected", p)
	case !w.Constraints.Allows(lock.Version):
		return w, fmt.Sprintf("provider %s: locked version selection %s doesn't match the updated version constraints %q", p, lock.Version, w.Constraints)
	}
	w.Version, w.Hashes, w.Locked = lock.Version, lock.Hashes, true
	return w, ""
}

// mirror has the engine fill the mirror.
func (r *mirrorRun) mirror() (problems view.Problems) {
	installer := providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: r.source, Client: r.network.Archives, Product: r.product, Observe: providercache.Observer(r.view.Observe), Now: r.Now, StateDir: r.StateDir},
	}
	result, err := providercache.Mirror(r.Context, installer.Fetcher, providercache.MirrorOptions{
		Dir: r.opts.target, Platforms: r.opts.platforms, AllPlatforms: r.opts.allPlatforms,
		Prune: r.opts.prune, PruneGrace: r.opts.pruneGrace,
	}, r.wanted)
	problems = r.view.End(result)
	if err != nil {
		problems = append(problems, view.MirrorProblems(err)...)
	}
	return problems
}
