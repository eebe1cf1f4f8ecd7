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

// Module is one module of a tree. A directory that several calls lead to is
// several modules.
type Module struct {
	Record
	// Config is what the module says; its Path is the module's place in the tree.
	Config *load.Module

	pkg     string // the address of the package that the module is in; "" is the working directory's
	pkgDir  string // where that package is
	foreign bool   // whether it may reach nothing but that package: see isForeign
	commit  string // of a repository, if the package was fetched just now
	parents []string
	broken  bool    // whether its files have errors
	caller  *Module // nil: the root module, and those of test runs
	call    load.ModuleCall
}

// setPackage notes which package the module is in: its own, which is usually in
// the directory that belongs to the key, or that of the module that calls it
// by a path.
func (m *Module) setPackage(parent *Module, address Address, usual string) {
	subdir := ""
	switch address := address.(type) {
	case Registry:
		m.pkg, subdir = address.Package(), address.Subdir
	case Remote:
		m.pkg, subdir = address.Package, address.Subdir
	default:
		m.pkg, m.pkgDir, m.foreign = parent.pkg, parent.pkgDir, parent.foreign
		return
	}
	m.foreign = parent.foreign || isForeign(address)
	if m.pkgDir = usual; m.Dir != usual && !strings.HasPrefix(m.Dir, usual+"/") {
		m.pkgDir = above(m.Dir, m.Key, subdir)
	}
}

// above is the package of a module that is in dir, as far as that is known: what
// belongs to the key in another directory for modules, or where subdir leads from.
func above(dir, key, subdir string) string {
	place := "/modules/" + key
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
	// Modules are all modules, the root first, each before those that it calls,
	// which come in the order of their names.
	Modules []*Module

	// Manifest is the record of where they are, and of modules that were called earlier.
	Manifest Manifest

	at       places
	before   Manifest // what modules.json says now
	replaced []string // keys of modules whose former packages aren't needed
	unsaved  bool     // whether there is anything to be saved
}

// Package is the package of a module that isn't in the one of its caller.
type Package struct {
	Record
	Commit string // of a git repository; "" if it isn't one, or was fetched by an earlier run
	Path   string // where the package is for this process; Dir is the module's, in it
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

func isLocalAddress(address Address) bool {
	_, local := address.(Local)
	return local
}

// Requirements returns what all modules ask for, each with the path of the
// module. The errors are those of [load.Module.Requirements].
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

// CheckProviders says how the providers of the modules fit together: see
// [load.CheckProviders]. Modules whose files have errors, and those that they call, are left
// out, as Terraform does: what they want may be what is wrong.
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

// Save removes what is left of modules that were replaced, and of killed runs, and writes
// modules.json, unless that says it all already. Without calls of modules, and
// where nothing was installed, it writes nothing.
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

// removePackage removes a directory, or a symlink to one. A key can be
// "modules.json", which is a file that has to stay.
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
