package workdir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
)

// ModuleLocks are what the lock file for modules says.
type ModuleLocks struct {
	Kept   bool // there is a file, or there is to be one
	Locked *modulelock.Locks
}

// LoadModuleLocks reads the lock file for modules in the current directory. Where
// there is one, it is kept; else it has to be asked for.
func LoadModuleLocks(asked bool) (locks ModuleLocks, problems problem.List) {
	locks.Locked, problems = modulelock.Load(modulelock.FileName)
	_, err := os.Lstat(modulelock.FileName)
	locks.Kept = err == nil || asked
	return locks, problems
}

// Prefer has an installer choose the versions and commits that are locked.
func (l ModuleLocks) Prefer(installer *modules.Resolver) {
	installer.Locked, installer.Commits = map[string]modules.Record{}, map[string]string{}
	for _, lock := range l.Locked.All() {
		installer.Locked[lock.Key] = modules.Record{Key: lock.Key, Source: lock.Source, Version: lock.Version}
		installer.Commits[lock.Key] = lock.Commit
	}
}

// InstalledModules hashes the modules that aren't local.
func (d *Dir) InstalledModules(ctx context.Context) (installed []modulelock.Lock, problems problem.List) {
	for _, pkg := range d.Tree.Packages() {
		hash, err := modulelock.HashTree(ctx, pkg.Path)
		if err != nil {
			return nil, problem.List{problem.Error("Can't compare a module with its lock file",
				fmt.Sprintf("The module %s can't be read: %v.", pkg.Key, err))}
		}
		installed = append(installed, modulelock.Lock{Key: pkg.Key, Source: pkg.Source, Version: pkg.Version, Commit: pkg.Commit, Hash: hash})
	}
	return installed, nil
}

// HasOtherContent reports whether a module has the source and version that are
// locked, and other files.
func HasOtherContent(finding modulelock.Finding) bool {
	return finding.State == modulelock.Changed &&
		!slices.Contains(finding.Fields, "source") && !slices.Contains(finding.Fields, "version")
}

// ModuleChange says how a module differs from its lock.
func ModuleChange(finding modulelock.Finding) string {
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

// ModuleDir is where a module is; dir, if its key is unknown.
func (d *Dir) ModuleDir(key, dir string) string {
	for _, pkg := range d.Tree.Packages() {
		if pkg.Key == key {
			return pkg.Path
		}
	}
	return filepath.Clean(dir)
}
