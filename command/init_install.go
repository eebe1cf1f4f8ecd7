package command

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// connect makes the HTTP clients and the sources of providers.
func (r *initRun) connect() view.Problems {
	r.view.ProvidersBegin()
	client, err := r.NewClient(r.userAgent(r.engine))
	if err != nil {
		return view.Problems{view.NewError("Can't make an HTTP client", err.Error())}
	}
	credentials, problems := r.credentials(r.cli)
	problems = append(problems, r.announceOverrides()...)
	r.archives = r.archiveClient(client, credentials, r.archiveCredentials)
	r.source, err = r.sources(sourceOptions{
		cli:         r.cli,
		pluginDirs:  r.opts.pluginDirs,
		fallback:    r.fallback,
		engine:      r.engine,
		client:      client,
		credentials: credentials,
	})
	if err != nil {
		problems = append(problems, view.NewError("Can't search for providers", err.Error()))
	}
	return problems
}

// install has the engine do the work and records its result in the lock file.
func (r *initRun) install() view.Problems {
	installer := providercache.Installer{
		Source:  r.source,
		Target:  &providercache.Dir{Path: filepath.Join(r.dataDir(), "providers")},
		Client:  r.archives,
		Engine:  r.engine,
		Skip:    r.skip,
		Observe: r.view.Observe,
		Now:     r.Now,
	}
	mode := providercache.Normal
	if r.opts.upgrade {
		mode = providercache.Upgrade
	}
	locks, report, err := installer.Install(r.Context, r.req, r.locks, mode)
	problems := r.view.ProvidersEnd()
	if unsaved := r.saveModules(); unsaved.HasErrors() {
		return append(problems, unsaved...)
	}
	if err != nil {
		return append(problems, view.InstallProblems(r.engine, r.req, err, r.suggest)...)
	}
	if r.opts.readonly {
		return append(problems, r.compareLocks(locks, report)...)
	}
	return append(problems, r.saveLocks(locks, report)...)
}

// suggest finds the address that was meant by one that doesn't exist: that of
// another required provider of the same type, else what the registry knows.
func (r *initRun) suggest(p getproviders.Provider) (getproviders.Provider, bool) {
	for _, other := range r.req.Providers() {
		if other.Type == p.Type && other != p {
			return other, true
		}
	}
	return r.source.Suggest(r.Context, p)
}

func (r *initRun) saveLocks(locks *depsfile.Locks, report providercache.Report) view.Problems {
	if locks.Equal(r.locks) {
		return nil
	}
	if err := locks.Save(depsfile.FileName, r.engine); err != nil {
		return view.Problems{view.NewError("Failed to update dependency lock file", err.Error())}
	}
	if r.locks.Empty() {
		r.view.LockCreated()
	} else {
		r.view.LockChanged()
	}
	if len(report.Incomplete) > 0 {
		return view.Problems{view.IncompleteLock(r.engine, report.Incomplete)}
	}
	return nil
}
