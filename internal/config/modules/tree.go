package modules

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// Module is one module of a tree. A directory with several calls is several modules.
type Module struct {
	Record
	// Config is the module's content; its Path is the module's place in the tree.
	Config *load.Module

	pkg     string  // the address of the module's package; "" for the working directory's
	pkgDir  string  // the directory of that package
	foreign bool    // it may read only that package: see isForeign
	lent    *Module // the module for which the package was fetched, if it stays where the Fetcher has it; else nil
	commit  string  // of a git repository, if the package was fetched in this run
	parents []string
	broken  bool    // its files have errors
	astray  bool    // the record leads out of the root module's directory, and no call does
	caller  *Module // nil for the root module, and those of test runs
	call    load.ModuleCall
}

// setPackage sets the module's package: its own, which is usually in the key's directory, or for a
// module with a path that of the caller.
func (m *Module) setPackage(parent *Module, address Address, usual string) {
	subdir := ""
	switch address := address.(type) {
	case Registry:
		m.pkg, subdir = address.Package(), address.Subdir
	case Remote:
		m.pkg, subdir = address.Package, address.Subdir
	default:
		m.pkg, m.pkgDir, m.foreign, m.lent = parent.pkg, parent.pkgDir, parent.foreign, parent.lent
		return
	}
	m.foreign = parent.foreign || isForeign(address)
	if m.pkgDir = usual; m.Dir != usual && !strings.HasPrefix(m.Dir, usual+"/") {
		m.pkgDir = above(m.Dir, m.Key, subdir)
	}
}

// above returns the package's directory of a module in dir, as far as it can be told: the key's
// directory in another directory for modules, or dir without subdir.
func above(dir, key, subdir string) string {
	place := "/modules/" + filepath.ToSlash(key)
	if i := strings.LastIndex(dir+"/", place+"/"); i >= 0 {
		return dir[:i] + place
	}
	if rest, ok := cutDir(path.Clean(dir), path.Clean(subdir)); ok {
		return rest
	}
	return dir
}

func cutDir(dir, subdir string) (string, bool) {
	for subdir != "." {
		if path.Base(dir) != path.Base(subdir) {
			return "", false
		}
		dir, subdir = path.Dir(dir), path.Dir(subdir)
	}
	return dir, true
}

// Tree is a configuration with all its modules. Make one with
// [Resolver.Resolve].
type Tree struct {
	// Modules are all modules, the root first. Each is before the modules that it calls, which are
	// sorted by name.
	Modules []*Module

	// Manifest is the record of the modules, and of modules that were called earlier.
	Manifest Manifest

	at       places
	before   Manifest // the current content of modules.json
	replaced []string // keys of modules whose former packages can be removed
	unsaved  bool     // Save has something to write
}

// Package is the package of a module that isn't in its caller's.
type Package struct {
	Record
	Commit string // of a git repository; "" for others, or if an earlier run fetched it
	Path   string // the package's path for this process; Dir is the module's, in it
}

// Packages returns the packages of all modules whose sources aren't local, in
// the order of the tree.
func (t *Tree) Packages() (all []Package) {
	for _, m := range t.Modules {
		if address, err := parseComplete(m.Source); err != nil || m.Key == "" || isLocalAddress(address) {
			continue
		}
		all = append(all, Package{Record: m.Record, Commit: m.commit, Path: t.at.path(m.pkgDir)})
	}
	return all
}

// Elsewhere returns the directories of modules that are outside of the root module's directory only because modules.json says so,
// with symlinks resolved. Who can change modules.json can have any directory read in this way.
func (t *Tree) Elsewhere() (dirs []string) {
	for _, m := range t.Modules {
		if !m.astray {
			continue
		}
		dir, err := t.at.files.Physical(t.at.path(m.Dir))
		if err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Lent returns the address of the package that has a module, without a subdirectory, and where it is, if it is only where the Fetcher
// has it: see [Resolver.Look]. version is that of a registry's module.
func (t *Tree) Lent(m *Module) (pkg, version, dir string, ok bool) {
	if m.lent == nil {
		return "", "", "", false
	}

	return m.lent.pkg, m.lent.Version, t.at.path(m.lent.pkgDir), true
}

func isLocalAddress(address Address) bool {
	_, local := address.(Local)
	return local
}

// Requirements returns the requirements of all modules, each with the path of the module. The
// errors are those of [load.Module.Requirements].
func (t *Tree) Requirements() (getproviders.Requirements, hcl.Diagnostics) {
	all := getproviders.Requirements{}
	var problems hcl.Diagnostics
	for _, module := range t.Modules {
		own, diags := module.Config.Requirements()
		problems = append(problems, diags...)
		tests, diags := module.Config.TestRequirements()
		problems = append(problems, diags...)
		parts := []getproviders.Requirements{own}
		for _, test := range module.Config.Tests {
			parts = append(parts, tests[test])
		}
		for _, part := range parts {
			for p, reqs := range part {
				all[p] = append(all[p], reqs...)
			}
		}
	}
	return all, problems
}

// CheckVersion returns a problem for each required_version of any module that
// the product's version doesn't satisfy.
func (t *Tree) CheckVersion() (problems hcl.Diagnostics) {
	for _, module := range t.Modules {
		problems = append(problems, module.Config.CheckVersion()...)
	}
	return problems
}

// CheckProviders checks whether the providers of the modules fit together: see
// [load.CheckProviders]. As in Terraform, it skips modules whose files have errors, and the modules
// that they call, because their requirements may be wrong.
func (t *Tree) CheckProviders() hcl.Diagnostics {
	var links []load.Link
	unsure := map[*Module]bool{}
	for _, module := range t.Modules {
		unsure[module] = module.broken || unsure[module.caller]
		if module.caller != nil && !unsure[module] {
			links = append(links, load.Link{Caller: module.caller.Config, Call: module.call, Module: module.Config})
		}
	}
	return load.CheckProviders(links)
}

// Save removes replaced packages and the stages of killed runs, and writes modules.json if its
// content changes. If no module is called or installed, it writes nothing.
func (t *Tree) Save() error {
	if t.at.files.FS == nil {
		sweep(t.at.dir)
	}
	if !t.unsaved {
		return nil
	}
	for _, key := range t.replaced {
		if err := removePackage(filepath.Join(t.at.dir, key)); err != nil {
			return fmt.Errorf("removing what was installed for the module %s before: %w", key, err)
		}
	}
	return t.Manifest.Save(t.at.dir)
}

// removePackage removes a directory, or a symlink to one. It keeps files, because a key can be
// "modules.json".
func removePackage(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	if err := checkLinks(path); err != nil {
		return err
	}
	return patient.RemoveAll(path)
}
