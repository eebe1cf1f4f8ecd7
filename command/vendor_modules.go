package command

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders"
)

// moduleLockFile is the lock file for modules.
const moduleLockFile = modulelock.FileName

func loadModuleLockFile() (*modulelock.Locks, view.Problems) { return modulelock.Load(moduleLockFile) }

// vendorModules installs the modules, and makes them fit for git.
func (r *vendorRun) vendorModules() view.Problems {
	manifest, err := r.genuineModules()
	if err != nil {
		return view.Problems{view.NewError("Failed to read what is vendored", sentence(err))}
	}
	installer, fetcher := r.moduleInstaller(r.product, r.net, r.moduleStore())
	defer fetcher.Close()
	installer.Dir, installer.Observe = r.in(vendored.ModulesDir), r.view.ObserveModules
	installer.Locked, installer.Commits = lockedModulesOf(r.modulesLocked)
	if r.opts.upgrade {
		installer.Mode = modules.Upgrade
	}
	r.tree, r.unusable = installer.Install(r.Context, r.module, manifest)
	r.misfit = r.tree.CheckProviders(r.product)
	problems := r.problems(r.product)
	if problems.HasErrors() {
		return problems
	}
	return append(problems, r.inOrder(r.bringModules, r.checkPlaces, r.tidyModules, r.saveTree)...)
}

// lockedModulesOf are the versions and commits that modules should have again.
func lockedModulesOf(locks *modulelock.Locks) (map[string]modules.Record, map[string]string) {
	run := initRun{moduleLocks: moduleLocks{modulesLocked: locks}}
	return run.lockedModules(), run.lockedCommits()
}

// genuineModules is the record of those modules that are where they should be,
// and what they were when they were vendored. The others are fetched anew.
func (r *vendorRun) genuineModules() (modules.Manifest, error) {
	manifest, err := modules.ReadManifest(filepath.FromSlash(vendored.ModulesDir), r.product)
	if err != nil {
		return nil, err
	}
	for key, record := range manifest {
		address, err := modules.ParseAddress(record.Source, r.product)
		if _, local := address.(modules.Local); local || err != nil || key == "" {
			continue
		}
		dir := vendored.ModulesDir + "/" + key
		if record.Dir != dir && !strings.HasPrefix(record.Dir, dir+"/") {
			delete(manifest, key)
			continue
		}
		was, known := r.was.Modules[key]
		is, err := modulelock.HashTree(r.Context, filepath.FromSlash(dir))
		if known && (err != nil || is != was) {
			delete(manifest, key)
		}
	}
	return manifest, r.Context.Err()
}

// checkPlaces refuses modules that a clone wouldn't have in the same place.
func (r *vendorRun) checkPlaces() (problems view.Problems) {
	for _, m := range r.tree.Modules {
		if filepath.IsAbs(filepath.FromSlash(m.Dir)) {
			problems = append(problems, view.NewError("Module in a place of this machine", fmt.Sprintf(
				"The module %s is in %s, which is an absolute path: a clone on another machine wouldn't find it. Call it by a path that leads to it without symlinks.", m.Key, m.Dir)))
		}
	}
	return problems
}

// homes are the directories of a package, relative to it, that modules are in.
func (r *vendorRun) homes(key string) (homes []string) {
	for _, m := range r.tree.Modules {
		if rest, ok := strings.CutPrefix(m.Dir, vendored.ModulesDir+"/"+key); ok && (rest == "" || rest[0] == '/') {
			homes = append(homes, strings.TrimPrefix(rest+"/.", "/"))
		}
	}
	return homes
}

// tidyModules makes git keep all of the packages, and takes down what they are.
func (r *vendorRun) tidyModules() (problems view.Problems) {
	var installed []modulelock.Lock
	before := map[string]getproviders.Hash{}
	for _, pkg := range r.tree.Packages() {
		dir := r.in(vendored.ModulesDir + "/" + pkg.Key)
		was, err := modulelock.HashTree(r.Context, dir)
		var tidied []string
		if err == nil {
			tidied, err = vendored.Tidy(r.Context, dir, r.homes(pkg.Key))
		}
		is := was
		if err == nil && len(tidied) > 0 {
			is, err = modulelock.HashTree(r.Context, dir)
		}
		if err != nil {
			problems = append(problems, view.NewError("Can't vendor a module", fmt.Sprintf("The module %s: %v.", pkg.Key, err)))
			continue
		}
		before[pkg.Key], r.record.Modules[pkg.Key] = was, is
		r.view.Module(pkg, string(is), tidied)
		installed = append(installed, modulelock.Lock{Key: pkg.Key, Source: pkg.Source, Version: pkg.Version, Commit: pkg.Commit, Hash: is})
	}
	if problems.HasErrors() || !r.lockingModules {
		return problems
	}
	return r.judgeModules(installed, before)
}

// judgeModules compares the modules with their lock file, which is to have the
// hashes of what is vendored: what git needed to be changed may stand in neither.
func (r *vendorRun) judgeModules(installed []modulelock.Lock, before map[string]getproviders.Hash) (problems view.Problems) {
	for _, finding := range r.modulesLocked.Check(installed) {
		moved := finding.State == modulelock.Changed && !slices.Contains(finding.Fields, "source") && !slices.Contains(finding.Fields, "version")
		if moved && !r.opts.upgrade && before[finding.Key] != finding.Locked.Hash {
			problems = append(problems, view.NewError("Module doesn't match its lock file", fmt.Sprintf(
				"The module %s, from %s, is not what %s records: %s.\n\nIf it is what you want, use -upgrade, which records it.",
				finding.Key, finding.Locked.Source, moduleLockFile, moduleChange(finding))))
		}
	}
	if !problems.HasErrors() {
		r.modulesToLock = r.modulesLocked.Updated(installed)
	}
	return problems
}

// saveTree writes modules.json, which tells of nothing but what is vendored if
// that is asked for.
func (r *vendorRun) saveTree() view.Problems {
	manifest := r.manifest()
	if len(manifest) == 0 {
		if _, err := os.Stat(r.in(vendored.ModulesDir)); err != nil {
			return nil
		}
	}
	err := manifest.Save(r.in(vendored.ModulesDir))
	if err == nil && r.opts.prune {
		err = r.pruneModules(slices.Collect(maps.Keys(manifest)))
	}
	if err != nil {
		return view.Problems{view.NewError("Failed to record the modules", sentence(err))}
	}
	return nil
}

// manifest is what modules.json is to say.
func (r *vendorRun) manifest() modules.Manifest {
	manifest := modules.Manifest{}
	if !r.opts.prune && r.base == "." {
		maps.Copy(manifest, r.tree.Manifest)
	}
	for _, m := range r.tree.Modules {
		if m.Key != "" {
			manifest[m.Key] = m.Record
		}
	}
	return manifest
}

// pruneModules removes packages that no call needs, of which modules.json tells
// nothing any more.
func (r *vendorRun) pruneModules(keys []string) error {
	names, err := vendored.Unneeded(r.base, keys)
	if err == nil {
		err = vendored.RemoveModules(r.base, names)
	}
	for i := range names {
		names[i] = vendored.ModulesDir + "/" + names[i]
	}
	r.view.Removed(names...)
	return err
}
