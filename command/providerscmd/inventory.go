package providerscmd

import (
	"cmp"
	"context"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// takeInventory says of each required or locked provider what this machine knows of its package, and whether the
// policy refuses it. No request is sent, and nothing is written. Packages that no receipt knows are read.
func takeInventory(m *cli.Meta, opts treeOptions, dir *workdir.Dir, required getproviders.Requirements) (result.Inventory, problem.List) {
	inventory := result.Inventory{Version: m.Version, Made: m.Now()}
	locks, problems := depsfile.Load(depsfile.FileName, dir.Product)
	config, unread := sources.ReadConfig(m, dir.Product)
	rules, unruled := sources.ReadPolicy(m, dir.Product, opts.policies)
	problems = append(append(problems, unread...), unruled...)
	if problems.HasErrors() {
		return inventory, problems
	}
	cache, unused := sources.OpenCache(m, config)
	problems = append(problems, unused...)
	for _, p := range required.Providers() {
		if p.IsBuiltIn() {
			continue
		}
		asked := candidate{rules: rules.Against(locks, nil)}
		installer := providercache.Installer{
			Fetcher: &fetcher.Fetcher{Source: getproviders.MultiSource{}, Product: dir.Product, Now: m.Now, StateDir: m.StateDir, Policy: asked.policy},
			Target:  &store.Store{Dir: workdir.ProvidersDir(m.Env, "")}, Cache: cache,
		}
		if _, err := installer.Check(m.Context, getproviders.Requirements{p: required[p]}, locks); err != nil {
			return inventory, append(problems, problem.CodedError("vendored", "Can't compare what is installed", problem.Sentence(err)))
		}
		for _, refusal := range rules.CheckLocks(locks, []getproviders.Provider{p}) {
			asked.refused = cmp.Or[error](asked.refused, refusal)
		}
		lock, _ := locks.Provider(p)
		c := asked.found
		inventory.Packages = append(inventory.Packages, result.InventoryPackage{
			Provider: p, Version: lock.Version, Platform: getproviders.CurrentPlatform(), Constraints: required.Constraints(p), LockedHashes: lock.Hashes,
			Present: asked.present, Hashes: c.Hashes, SourceURL: c.SourceURL, FromRegistry: c.FromRegistry, Authentication: c.Authentication, Released: c.Released,
			HasPolicy: !rules.IsZero(), Refused: asked.refused,
		})
	}
	return inventory, problems
}

// candidate is the package that a policy was asked about, and what it said. An Installer asks about a provider once.
type candidate struct {
	rules   func(context.Context, fetcher.Candidate) error // nil: refuses nothing
	present bool
	found   fetcher.Candidate
	refused error
}

func (a *candidate) policy(ctx context.Context, c fetcher.Candidate) error {
	a.found, a.present = c, true
	if a.rules != nil {
		a.refused = a.rules(ctx, c)
	}
	return a.refused
}
