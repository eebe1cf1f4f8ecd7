package command

import (
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
)

// loadTree finds the modules of the configuration, and fetches them if need be.
func (r *initRun) loadTree() view.Problems {
	installer, fetcher := r.moduleInstaller(r.product, r.network, r.moduleStore())
	defer fetcher.Close()
	installer.Observe = r.view.ObserveModules
	installer.Locked, installer.Commits = r.lockedModules(), r.lockedCommits()
	switch {
	case !r.opts.get:
		installer.Mode = modules.AsRecorded
	case r.opts.upgrade:
		installer.Mode = modules.Upgrade
	}
	if r.opts.get && len(r.module.Calls)+len(r.module.TestRuns) > 0 {
		r.view.ModulesBegin(r.opts.upgrade)
	}
	problems := r.findModules(r.Context, installer)
	if r.tree != nil {
		r.view.ModulesEnd(len(r.tree.Modules) - 1) // nobody calls the root
	}
	return problems
}

// saveTree records where the modules are, and what they are.
func (r *initRun) saveTree() view.Problems {
	return append(r.saveModules(r.product), r.saveModuleLocks()...)
}
