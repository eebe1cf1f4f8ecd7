package vendorcmd

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders"
)

// vendorModules installs the modules, and makes them fit for git.
func (v *vendorRun) vendorModules() problem.List {
	manifest, err := v.unchangedModules()
	if err != nil {
		return problem.List{problem.Error("Failed to read what is vendored", problem.Sentence(err))}
	}
	installer, fetcher := v.net.Modules(v.meta, v.product)
	defer fetcher.Close()
	installer.Dir, installer.Observe = v.in(vendored.ModulesDir), v.view.ObserveModules
	v.moduleLocks.Prefer(&installer)
	if v.opts.upgrade {
		installer.Mode = modules.Upgrade
	}
	v.dir.InstallModules(v.meta.Context, installer, manifest)
	problems := v.dir.Problems()
	if problems.HasErrors() {
		return problems
	}
	return append(problems, problem.InOrder(v.bringModules, v.checkPlaces, v.tidyModules, v.saveTree)...)
}

// unchangedModules is the record of those modules that are where they should be,
// and what they were when they were vendored. The others are fetched again.
func (v *vendorRun) unchangedModules() (modules.Manifest, error) {
	manifest, err := modules.ReadManifest(filepath.FromSlash(vendored.ModulesDir), v.product)
	if err != nil {
		return nil, err
	}
	for key, record := range manifest {
		address, err := modules.ParseAddress(record.Source, v.product)
		if _, local := address.(modules.Local); local || err != nil || key == "" {
			continue
		}
		dir := vendored.ModulesDir + "/" + key
		if record.Dir != dir && !strings.HasPrefix(record.Dir, dir+"/") || isLinked(dir) && !isDirectory(address) {
			delete(manifest, key)
			continue
		}
		was, known := v.was.Modules[key]
		is, err := modulelock.HashTree(v.meta.Context, filepath.FromSlash(dir))
		if known && (err != nil || is != was) {
			delete(manifest, key)
		}
	}
	return manifest, v.meta.Context.Err()
}

// isLinked reports whether a symlink is in the place of a package. Only for a
// directory of this machine is that right.
func isLinked(dir string) bool {
	info, err := os.Lstat(filepath.FromSlash(dir))
	return err == nil && !info.IsDir()
}

func isDirectory(address modules.Address) bool {
	remote, ok := address.(modules.Remote)
	return ok && remote.IsDirectory()
}

// checkPlaces refuses modules that a clone wouldn't have in the same place.
func (v *vendorRun) checkPlaces() (problems problem.List) {
	for _, m := range v.dir.Tree.Modules {
		if filepath.IsAbs(filepath.FromSlash(m.Dir)) {
			problems = append(problems, problem.Error("Module in a place of this machine", fmt.Sprintf(
				"The module %s is in %s, which is an absolute path: a clone on another machine wouldn't find it. Call it by a path that leads to it without symlinks.", m.Key, m.Dir)))
		}
	}
	return problems
}

// dirsOf are the directories of a package, relative to it, that modules are in.
func (v *vendorRun) dirsOf(key string) (dirs []string) {
	for _, m := range v.dir.Tree.Modules {
		if rest, ok := strings.CutPrefix(m.Dir, vendored.ModulesDir+"/"+key); ok && (rest == "" || rest[0] == '/') {
			dirs = append(dirs, strings.TrimPrefix(rest+"/.", "/"))
		}
	}
	return dirs
}

// tidyModules makes git keep all of the packages, and takes down what they are.
func (v *vendorRun) tidyModules() (problems problem.List) {
	var installed []modulelock.Lock
	before := map[string]getproviders.Hash{}
	for _, pkg := range v.dir.Tree.Packages() {
		dir := v.in(vendored.ModulesDir + "/" + pkg.Key)
		was, err := modulelock.HashTree(v.meta.Context, dir)
		var tidied []string
		if err == nil {
			tidied, err = vendored.Tidy(v.meta.Context, dir, v.dirsOf(pkg.Key))
		}
		is := was
		if err == nil && len(tidied) > 0 {
			is, err = modulelock.HashTree(v.meta.Context, dir)
		}
		if err != nil {
			problems = append(problems, problem.Error("Can't vendor a module", fmt.Sprintf("The module %s: %v.", pkg.Key, err)))
			continue
		}
		before[pkg.Key], v.record.Modules[pkg.Key] = was, is
		v.view.Module(pkg, string(is), tidied)
		installed = append(installed, modulelock.Lock{Key: pkg.Key, Source: pkg.Source, Version: pkg.Version, Commit: pkg.Commit, Hash: is})
	}
	if problems.HasErrors() || !v.moduleLocks.Kept {
		return problems
	}
	return v.compareModules(installed, before)
}

// compareModules compares the modules with their lock file, which is to have the
// hashes of what is vendored: what git needed to be changed may stand in neither.
func (v *vendorRun) compareModules(installed []modulelock.Lock, before map[string]getproviders.Hash) (problems problem.List) {
	for _, finding := range v.moduleLocks.Locked.Check(installed) {
		if workdir.HasOtherContent(finding) && !v.opts.upgrade && before[finding.Key] != finding.Locked.Hash {
			problems = append(problems, problem.Error("Module doesn't match its lock file", fmt.Sprintf(
				"The module %s, from %s, is not what %s records: %s.\n\nIf it is what you want, use -upgrade, which records it.",
				finding.Key, finding.Locked.Source, modulelock.FileName, workdir.ModuleChange(finding))))
		}
	}
	if !problems.HasErrors() {
		v.toLock = v.moduleLocks.Locked.Updated(installed)
	}
	return problems
}

// saveTree writes modules.json, which lists nothing but what is vendored if
// that is asked for.
func (v *vendorRun) saveTree() problem.List {
	manifest := v.manifest()
	if len(manifest) == 0 {
		if _, err := os.Stat(v.in(vendored.ModulesDir)); err != nil {
			return nil
		}
	}
	err := manifest.Save(v.in(vendored.ModulesDir))
	if err == nil && v.opts.prune {
		err = v.pruneModules(slices.Collect(maps.Keys(manifest)))
	}
	if err != nil {
		return problem.List{problem.Error("Failed to record the modules", problem.Sentence(err))}
	}
	return nil
}

// manifest is what modules.json is to say.
func (v *vendorRun) manifest() modules.Manifest {
	manifest := modules.Manifest{}
	if !v.opts.prune && v.base == "." {
		maps.Copy(manifest, v.dir.Tree.Manifest)
	}
	for _, m := range v.dir.Tree.Modules {
		if m.Key != "" {
			manifest[m.Key] = m.Record
		}
	}
	return manifest
}

// pruneModules removes packages that no call needs, of which modules.json tells
// nothing any more.
func (v *vendorRun) pruneModules(keys []string) error {
	names, err := vendored.Unneeded(v.base, keys)
	if err == nil {
		err = vendored.RemoveModules(v.base, names)
	}
	for i := range names {
		names[i] = vendored.ModulesDir + "/" + names[i]
	}
	v.view.Removed(names...)
	return err
}
