package command

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// reach makes the HTTP clients.
func (r *initRun) reach() (problems view.Problems) {
	r.network, problems = r.reachable(r.opts.offlineBy, r.product, r.cli, r.archiveCredentials)
	return problems
}

// connect makes the sources of providers.
func (r *initRun) connect() (problems view.Problems) {
	r.view.ProvidersBegin()
	problems = r.announceOverrides()
	var err error
	r.source, err = r.sources(sourceOptions{
		network:    r.network,
		cli:        r.cli,
		pluginDirs: r.opts.pluginDirs,
		fallback:   r.fallback,
		product:    r.product,
		kept:       r.kept,
	})
	if err != nil {
		problems = append(problems, view.NewError("Can't search for providers", err.Error()))
	}
	return problems
}

// installer makes what the engine does the work with.
func (r *initRun) installer() *providercache.Installer {
	return &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: r.source, Client: r.network.Archives, Product: r.product, Observe: providercache.Observer(r.view.Observe), Now: r.Now, StateDir: r.sharing.stateDir, Verify: r.sharing.verify, HashPolicy: r.opts.hashes},
		Target:  &providercache.Store{Dir: filepath.Join(r.dataDir(), "providers")}, Skip: r.skip, Cache: r.sharing.cache, Link: r.sharing.link,
	}
}

// install has the engine do the work and records its result in the lock file.
func (r *initRun) install() view.Problems {
	mode := providercache.Normal
	if r.opts.upgrade {
		mode = providercache.Upgrade
	}
	locks, report, err := r.installer().Install(r.Context, r.req, r.locks, mode)
	problems := r.view.ProvidersEnd()
	if unsaved := r.saveTree(); unsaved.HasErrors() {
		return append(problems, unsaved...)
	}
	if err != nil {
		return append(problems, view.InstallProblems(r.product, r.req, err, r.suggest)...)
	}
	problems = append(problems, r.chosenOffline(report)...)
	if r.opts.readonly {
		return append(problems, r.compareLocks(locks, report)...)
	}
	locks, unlocked := r.lockPlatforms(locks)
	if problems = append(problems, unlocked...); unlocked.HasErrors() {
		return problems
	}
	return append(problems, r.saveLocks(locks, report)...)
}

// suggest finds the address that was meant by one that doesn't exist: that of
// another required provider of the same type, else what the registry knows.
func (r *initRun) suggest(p getproviders.Provider) (view.Suggestion, bool) {
	meant, ok := getproviders.Provider{}, false
	for _, other := range r.req.Providers() {
		if other.Type == p.Type && other != p && !ok {
			meant, ok = other, true
		}
	}
	if !ok {
		meant, ok = r.source.Suggest(r.Context, p)
	}
	if !ok {
		return view.Suggestion{}, false
	}
	available, err := r.source.Versions(r.Context, meant)
	if err != nil {
		return view.Suggestion{Provider: meant}, true // its own failure, if it matters, is told elsewhere
	}
	return view.Suggestion{Provider: meant, Versions: available.Versions}, true
}

func (r *initRun) saveLocks(locks *depsfile.Locks, report providercache.Report) view.Problems {
	if locks.Equal(r.locks) {
		return nil
	}
	if err := locks.Save(depsfile.FileName, r.product); err != nil {
		return view.Problems{view.NewError("Failed to update dependency lock file", err.Error())}
	}
	if r.locks.Empty() {
		r.view.LockCreated()
	} else {
		r.view.LockChanged()
	}
	if len(report.Incomplete) > 0 {
		return view.Problems{view.IncompleteLock(r.product, report.Incomplete)}
	}
	return nil
}
