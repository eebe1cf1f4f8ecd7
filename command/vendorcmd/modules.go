package vendorcmd

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
)

// vendorModules installs the modules, changes them so that git keeps all files, and adds their
// hashes to hashes. It returns the content of their lock file, or nil if there is none to write.
func vendorModules(r request, p project, hashes map[string]getproviders.Hash) (toLock modulelock.Locks, ok bool) {
	manifest, err := unchangedModules(r, p.was)
	if err != nil {
		return nil, r.Log.Failed("vendored", "Failed to read what is vendored", err)
	}
	installer := r.Modules()
	installer.Dir, installer.Observe = r.in(vendored.ModulesDir), r.view.ObserveModules
	if r.opts.upgrade {
		installer.Mode = modules.Upgrade
	}
	p.dir.InstallModules(r.Meta.Context, installer, manifest)
	if !r.Log.Add(products.ExplainVersion(r.Meta, r.Product, p.dir.Problems())...) || !bringModules(r, p.dir.Tree) || !checkPlaces(r, p.dir.Tree) {
		return nil, false
	}
	toLock, ok = tidyModules(r, p, hashes)
	return toLock, ok && saveTree(r, p.dir.Tree)
}

// unchangedModules returns the records of the modules that are in their directories
// and haven't changed since they were vendored. The others are fetched again.
func unchangedModules(r request, recorded vendored.Record) (modules.Manifest, error) {
	manifest, err := modules.ReadManifest(nil, filepath.FromSlash(vendored.ModulesDir), r.Product)
	if err != nil {
		return nil, err
	}
	for key, record := range manifest {
		address, err := modules.ParseAddress(record.Source, r.Product)
		if _, local := address.(modules.Local); local || err != nil || key == "" {
			continue
		}
		dir := vendored.ModulesDir + "/" + key
		if record.Dir != dir && !strings.HasPrefix(record.Dir, dir+"/") || isLinked(dir) && !isDirectory(address) {
			delete(manifest, key)
			continue
		}
		was, known := recorded.Modules[key]
		is, err := modulelock.HashTree(r.Meta.Context, filepath.FromSlash(dir))
		if known && (err != nil || is != was) {
			delete(manifest, key)
		}
	}
	return manifest, r.Meta.Context.Err()
}

// isLinked reports whether a symlink is in the place of a package, which is only right for a
// module from a directory of this machine.
func isLinked(dir string) bool {
	info, err := os.Lstat(filepath.FromSlash(dir))
	return err == nil && !info.IsDir()
}

func isDirectory(address modules.Address) bool {
	remote, ok := address.(modules.Remote)
	return ok && remote.IsDirectory()
}

// checkPlaces refuses modules with absolute paths, which a clone on another machine wouldn't have.
func checkPlaces(r request, tree *modules.Tree) bool {
	ok := true
	for _, m := range tree.Modules {
		if filepath.IsAbs(filepath.FromSlash(m.Dir)) {
			ok = r.Log.Fail("vendored", "Module in a place of this machine",
				"The module %s is in %s, which is an absolute path: a clone on another machine wouldn't find it. Call it by a path that leads to it without symlinks.", m.Key, m.Dir)
		}
	}
	return ok
}

// dirsOf returns the directories of a package, relative to it, that have modules.
func dirsOf(tree *modules.Tree, key string) (dirs []string) {
	for _, m := range tree.Modules {
		if rest, ok := strings.CutPrefix(m.Dir, vendored.ModulesDir+"/"+key); ok && (rest == "" || rest[0] == '/') {
			dirs = append(dirs, strings.TrimPrefix(rest+"/.", "/"))
		}
	}
	return dirs
}

// tidyModules changes the packages so that git keeps all files, adds their hashes to hashes, and
// returns the content of their lock file, or nil if there is none to write.
func tidyModules(r request, p project, hashes map[string]getproviders.Hash) (modulelock.Locks, bool) {
	ok := true
	var installed []modulelock.Lock
	before := map[string]getproviders.Hash{}
	for _, pkg := range p.dir.Tree.Packages() {
		dir := r.in(vendored.ModulesDir + "/" + pkg.Key)
		was, err := modulelock.HashTree(r.Meta.Context, dir)
		var tidied []string
		if err == nil {
			tidied, err = vendored.Tidy(r.Meta.Context, dir, dirsOf(p.dir.Tree, pkg.Key))
		}
		is := was
		if err == nil && len(tidied) > 0 {
			is, err = modulelock.HashTree(r.Meta.Context, dir)
		}
		if err != nil {
			ok = r.Log.Fail("vendored", "Can't vendor a module", "The module %s: %v.", pkg.Key, err)
			continue
		}
		before[pkg.Key], hashes[pkg.Key] = was, is
		r.view.Module(pkg, string(is), tidied)
		installed = append(installed, modulelock.Lock{Key: pkg.Key, Source: pkg.Source, Version: pkg.Version, Commit: pkg.Commit, Hash: is})
	}
	if !ok || !p.dir.LocksModules {
		return nil, ok
	}
	return compareModules(r, p.dir.LockedModules, installed, before)
}

// compareModules compares the modules with their lock file, and returns its new content, with the
// hashes of the vendored files. The locked hash may also be before's, from before files were changed for git.
func compareModules(r request, locked modulelock.Locks, installed []modulelock.Lock, before map[string]getproviders.Hash) (modulelock.Locks, bool) {
	ok := true
	for _, finding := range locked.Check(installed) {
		if workdir.HasOtherContent(finding) && !r.opts.upgrade && before[finding.Key] != finding.Locked.Hash {
			ok = r.Log.Fail("module_changed", "Module doesn't match its lock file",
				"The module %s, from %s, is not what %s records: %s.\n\nFind out who has changed it. If it is what you want, use -upgrade, which fetches the module again and records it.",
				finding.Key, finding.Locked.Source, modulelock.FileName, workdir.ModuleChange(finding))
		}
	}
	return locked.Updated(installed), ok
}

// saveTree writes modules.json. With -prune it only lists vendored modules, and removes the directories of others.
func saveTree(r request, tree *modules.Tree) bool {
	manifest := manifestOf(r, tree)
	if len(manifest) == 0 {
		if _, err := os.Stat(r.in(vendored.ModulesDir)); err != nil {
			return true
		}
	}
	err := manifest.Save(r.in(vendored.ModulesDir))
	if err == nil && r.opts.prune {
		err = pruneModules(r, slices.Collect(maps.Keys(manifest)))
	}
	if err != nil {
		return r.Log.Unsaved("module_record", "Failed to record the modules", err)
	}
	return true
}

// manifestOf returns the new content of modules.json.
func manifestOf(r request, tree *modules.Tree) modules.Manifest {
	manifest := modules.Manifest{}
	if !r.opts.prune && r.here() {
		maps.Copy(manifest, tree.Manifest)
	}
	for _, m := range tree.Modules {
		if m.Key != "" {
			manifest[m.Key] = m.Record
		}
	}
	return manifest
}

// pruneModules removes packages whose keys modules.json doesn't have any more.
func pruneModules(r request, keys []string) error {
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
