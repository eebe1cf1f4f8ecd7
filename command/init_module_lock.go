package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
)

// moduleLocks are what the lock file for modules says, and is going to say.
type moduleLocks struct {
	lockingModules               bool // there is a file, or there is to be one
	modulesLocked, modulesToLock *modulelock.Locks
}

// loadModuleLocks reads the lock file for modules. Who has one wants it to be
// kept; who has none has to ask for it.
func (r *initRun) loadModuleLocks() (problems view.Problems) {
	r.modulesLocked, problems = modulelock.Load(modulelock.FileName)
	_, err := os.Lstat(modulelock.FileName)
	r.lockingModules = err == nil || r.opts.lockModules
	return problems
}

// lockedModules are the versions that modules should have again.
func (r *initRun) lockedModules() map[string]modules.Record {
	locked := map[string]modules.Record{}
	for _, lock := range r.modulesLocked.All() {
		locked[lock.Key] = modules.Record{Key: lock.Key, Source: lock.Source, Version: lock.Version}
	}
	return locked
}

// lockedCommits are the commits that modules from repositories had.
func (r *initRun) lockedCommits() map[string]string {
	commits := map[string]string{}
	for _, lock := range r.modulesLocked.All() {
		commits[lock.Key] = lock.Commit
	}
	return commits
}

// checkModuleLocks compares the modules with their lock file. A module with
// another content than the one that was locked is refused, unless that is what
// the user asks for.
func (r *initRun) checkModuleLocks() (problems view.Problems) {
	if !r.lockingModules {
		return nil
	}
	installed, problems := r.installedModules()
	if problems.HasErrors() {
		return problems
	}
	for _, finding := range r.modulesLocked.Check(installed) {
		problems = append(problems, r.judgeModule(finding)...)
	}
	if r.unusable = append(r.unusable, problems...); !problems.HasErrors() {
		r.modulesToLock = r.modulesLocked.Updated(installed)
	}
	return problems
}

// installedModules hashes the modules that aren't local.
func (r *initRun) installedModules() (installed []modulelock.Lock, problems view.Problems) {
	for _, pkg := range r.tree.Packages() {
		hash, err := modulelock.HashTree(r.Context, pkg.Path)
		if err != nil {
			return nil, view.Problems{view.NewError("Can't compare a module with its lock file",
				fmt.Sprintf("The module %s can't be read: %v.", pkg.Key, err))}
		}
		installed = append(installed, modulelock.Lock{Key: pkg.Key, Source: pkg.Source, Version: pkg.Version, Commit: pkg.Commit, Hash: hash})
	}
	return installed, nil
}

// judgeModule says whether a module may be what it is.
func (r *initRun) judgeModule(finding modulelock.Finding) view.Problems {
	moved := finding.State == modulelock.Changed &&
		!slices.Contains(finding.Fields, "source") && !slices.Contains(finding.Fields, "version")
	switch {
	case finding.State == modulelock.Same:
		return nil
	case moved && !r.opts.upgrade:
		return view.Problems{view.NewError("Module doesn't match its lock file", fmt.Sprintf(
			"The module %s, from %s, is not what %s records: %s.\n\nSomebody may have moved a tag, replaced an archive or changed the files in %s. "+
				"If it is what you want, run \"tfdeps init -upgrade\", which records it. If it isn't, remove that directory and find out who has changed it.",
			finding.Key, finding.Locked.Source, modulelock.FileName, moduleChange(finding), r.moduleDir(finding.Key)))}
	case r.opts.readonly:
		return view.Problems{view.NewError("Modules differ from their lock file", fmt.Sprintf(
			"%s forbids changes of lock files, and %s would have to be changed: %s.\n\nRun \"tfdeps init\" without it, and commit the file.",
			r.opts.readonlyBy, modulelock.FileName, moduleChange(finding)))}
	default:
		return nil
	}
}

// moduleChange says how a module differs from its lock.
func moduleChange(finding modulelock.Finding) string {
	was, is := finding.Locked, finding.Installed
	switch finding.State {
	case modulelock.New:
		return fmt.Sprintf("there is no entry for the module %s, which is from %s", finding.Key, is.Source)
	case modulelock.Gone:
		return fmt.Sprintf("there is an entry for %s, and no module that would need it", finding.Key)
	}
	values := map[string][2]string{
		"source": {was.Source, is.Source}, "version": {was.Version, is.Version},
		"commit": {was.Commit, is.Commit}, "hash": {string(was.Hash), string(is.Hash)},
	}
	var changes []string
	for _, field := range finding.Fields {
		changes = append(changes, fmt.Sprintf("the %s of %s is %q, and %q is locked", field, finding.Key, values[field][1], values[field][0]))
	}
	return strings.Join(changes, "; ")
}

// moduleDir is where a module is, or should be.
func (r *initRun) moduleDir(key string) string {
	for _, pkg := range r.tree.Packages() {
		if pkg.Key == key {
			return pkg.Path
		}
	}
	return r.modulesDir()
}

// saveModuleLocks writes the lock file for modules.
func (r *initRun) saveModuleLocks() view.Problems {
	if r.modulesToLock == nil || r.opts.readonly {
		return nil
	}
	if err := r.modulesToLock.Save(modulelock.FileName); err != nil {
		return view.Problems{view.NewError("Failed to update the lock file for modules", err.Error())}
	}
	return nil
}
