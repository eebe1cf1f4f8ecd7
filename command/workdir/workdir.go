// Package workdir reads a working directory: its configuration with all modules,
// the record of its backend, its state and its lock files. From these it makes the
// requirements of providers. It prints nothing, and returns problems.
//
//	dir := workdir.Load(m, product, ".", options)
//	problems := dir.FindModules(ctx, installer)
//	required, problems := dir.Requirements(...)
package workdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/combine"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// DataDir returns the data directory of the current directory:
// ".terraform", unless TF_DATA_DIR names another one.
func DataDir(env cli.Environment) string {
	return cmp.Or(env.Get("TF_DATA_DIR"), ".terraform")
}

// ModulesDir returns the directory of modules.json and of the modules that
// aren't local.
func ModulesDir(env cli.Environment) string { return filepath.Join(DataDir(env), "modules") }

// ProvidersDir returns the path of a directory's provider packages.
func ProvidersDir(env cli.Environment, dir string) string {
	return In(dir, filepath.Join(DataDir(env), "providers"))
}

// In joins a directory and a path, unless the path is absolute.
func In(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Options are a command's options for reading a configuration.
type Options struct {
	TestDirectory string               // of -test-directory; "" means the default
	NoTests       bool                 // -test-directory is empty: as in the real programs, no tests are read
	Inputs        []load.InputArgument // -var and -var-file, in their order
	Outlines      load.Outlines        // the cache of outlines of unchanged configurations, or nil
	Within        string               // the only directory whose files the root module and its expressions can read; "" means all
}

// Flags returns the flags of commands that read a configuration.
func (o *Options) Flags() cli.Flags {
	return cli.Flags{
		cli.Option("test-directory=DIR", cli.Func(func(dir string) error {
			o.TestDirectory, o.NoTests = dir, dir == ""
			return nil
		}), `Read test files in this directory, too, as they may call modules`, `The default is "tests".`),
		cli.Option("var=NAME=VALUE", cli.Func(func(assignment string) error {
			o.Inputs = append(o.Inputs, load.InputArgument{Assignment: assignment})
			return nil
		}),
			"Set a variable that a module's source or version uses", "May be given more than once."),
		cli.Option("var-file=FILE", cli.Func(func(file string) error {
			o.Inputs = append(o.Inputs, load.InputArgument{File: file})
			return nil
		}),
			"A file with values of such variables", "May be given more than once."),
	}
}

// Dir is a working directory, as far as it was read.
type Dir struct {
	Path    string // relative to the current directory
	Product getproviders.Product

	Root  *load.Module
	Tree  *modules.Tree   // the modules; nil before FindModules
	Locks *depsfile.Locks // nil before LoadLocks

	LockedModules modulelock.Locks // set by LoadModuleLocks: modules are fetched at these versions and commits
	LocksModules  bool             // modules are locked: there is a lock file for them, or -lock-modules
	ToLock        modulelock.Locks // the content that SaveModules writes to that file; nil means no change

	log       *slog.Logger    // may be nil
	hidden    *explain.Hidden // files of which no lines are shown; may be nil
	written   *depsfile.Locks // what LoadLocks found in the file, or SaveLocks wrote
	inherited []depsfile.Lock // entries of the predecessor product, from which LoadLocks made entries in Locks

	InputProblems    problem.List // problems of reading values of variables; with errors, all others are ignored
	RootProblems     problem.List // problems of the root module, warnings included
	ModuleProblems   problem.List // problems of the modules below it
	ProviderProblems problem.List // problems of the modules' provider configurations together
}

// Load reads the root module in a directory. For Terraform, values of variables that can't be read or computed are a problem
// even if nothing needs them. For OpenTofu, those that can't be computed are a problem only where they are needed.
func Load(m *cli.Meta, product getproviders.Product, path string, o Options) *Dir {
	d := &Dir{Path: path, Product: product, log: m.Log, hidden: m.Hidden}
	workspace := ""
	if dialect.Of(product).Understands("any_variable") {
		workspace, _ = Workspace(m.Env, product) // code that needs the backend reports an invalid name
	}
	values, invalid := load.ReadInputs(m.Context, path, load.InputSources{Arguments: o.Inputs, Environ: m.Env, Product: product, Within: o.Within})
	d.Root, d.RootProblems = load.LoadModuleContext(m.Context, path, product, load.Options{
		TestDirectory: o.TestDirectory, NoTests: o.NoTests, Inputs: values, WorkingDir: m.Dir, HomeDir: m.HomeDir, Within: o.Within, Workspace: workspace, Outlines: o.Outlines,
	})
	d.takeInputProblems(invalid)
	return d
}

// takeInputProblems sorts problems with the values of variables in the product's order: those of reading end
// a run, and those of values come after the root module was read.
func (d *Dir) takeInputProblems(invalid problem.List) {
	var values problem.List
	for _, p := range invalid {
		switch value, ok := p.Extra.(load.InputValue); {
		case !ok:
			d.InputProblems = append(d.InputProblems, p)
		case d.Root.DeclaresVariable(value.Variable):
			values = append(values, p)
		}
	}
	d.RootProblems = append(values, d.RootProblems...)
}

// Empty reports whether the directory has no configuration, not even one with
// errors. OpenTofu ignores test files without a configuration.
func (d *Dir) Empty() bool {
	return d.Root.Empty && (dialect.Of(d.Product).Understands("test_providers") || !d.RootProblems.HasErrors())
}

// NoConfiguration is the error for a directory that is Empty.
func (d *Dir) NoConfiguration(shown string) *problem.Problem {
	return problem.Errorf("configuration_not_found", "No configuration files",
		"The directory %s contains no %s configuration files.", shown, d.Product.Name)
}

// FindModules finds the modules below the root module in the installer's mode,
// beginning with the modules.json of the installer's directory.
// The Dir keeps problems with the modules, because they don't matter if the
// modules need another version of the product.
func (d *Dir) FindModules(ctx context.Context, installer modules.Resolver) problem.List {
	manifest, err := modules.ReadManifest(nil, installer.Dir, installer.Product)
	if err != nil {
		text := err.Error() + "."
		if !errors.Is(err, syscall.ENOTDIR) { // this error says what to do
			text += "\n\nFind out who wrote it, and whether a program was stopped then. It only says where modules are: if you move it away, init fetches them again, and compares them with a lock file for modules as before."
		}
		return problem.Fail("module_record", "failed to read module manifest", "%s", text)
	}
	d.InstallModules(ctx, installer, manifest)
	return nil
}

// InstallModules is FindModules for modules that are recorded in a manifest.
func (d *Dir) InstallModules(ctx context.Context, installer modules.Resolver, manifest modules.Manifest) {
	installer.Locked, installer.Commits = map[string]modules.Record{}, map[string]string{}
	for _, lock := range d.LockedModules.All() {
		installer.Locked[lock.Key] = modules.Record{Key: lock.Key, Source: lock.Source, Version: lock.Version}
		installer.Commits[lock.Key] = lock.Commit
	}
	d.Tree, d.ModuleProblems = installer.Resolve(ctx, d.Root, manifest)
	for _, dir := range d.Tree.Elsewhere() {
		d.hidden.Add(dir)
	}
	d.logLeftToPlan()
	d.ProviderProblems = d.Tree.CheckProviders()
}

// logLeftToPlan logs how many arguments and blocks only a newer version of the product can read.
func (d *Dir) logLeftToPlan() {
	var places []string
	for _, module := range d.Tree.Modules {
		for _, at := range module.Config.LeftToPlan {
			places = append(places, fmt.Sprintf("%s:%d", at.Filename, at.Start.Line))
		}
	}
	if d.log != nil && len(places) > 0 {
		d.log.Debug("unknown arguments and blocks are left to plan, because the version is newer than those that are known",
			"version", d.Product.Version, "count", len(places), "first", places[0])
	}
}

// Problems returns the problems of the configuration. If it needs another version of
// the product, only that is returned, because the other errors may not exist in
// that version.
func (d *Dir) Problems() problem.List {
	if d.InputProblems.HasErrors() {
		return d.InputProblems
	}
	if unfit := d.Tree.CheckVersion(); unfit.HasErrors() {
		return unfit
	}
	return slices.Concat(d.InputProblems, d.RootProblems, d.ModuleProblems, d.ProviderProblems)
}

// WarnOfTreeProblems turns errors about the combination of modules and their providers into warnings.
func (d *Dir) WarnOfTreeProblems() {
	soften := func(problems problem.List) problem.List {
		softened := slices.Clone(problems)
		for i, p := range problems {
			if _, ok := p.Extra.(load.TreeProblem); ok {
				softened[i] = problem.AsWarnings(problem.List{p})[0]
			}
		}
		return softened
	}
	d.RootProblems, d.ModuleProblems = soften(d.RootProblems), soften(d.ModuleProblems)
	d.ProviderProblems = problem.AsWarnings(d.ProviderProblems)
}

// TakeOutdated removes the problems about differences between modules.json and the
// configuration from ModuleProblems, and returns them.
func (d *Dir) TakeOutdated() (outdated []*problem.Problem) {
	var others problem.List
	for _, p := range d.ModuleProblems {
		if _, ok := p.Extra.(modules.Outdated); ok {
			outdated = append(outdated, p)
		} else {
			others = append(others, p)
		}
	}
	d.ModuleProblems = others
	return outdated
}

// CheckRecorded finds the modules by the modules.json in dir, and returns where that differs from the configuration.
func (d *Dir) CheckRecorded(m *cli.Meta, dir string) (reasons []view.CheckReason, problems problem.List) {
	problems = d.FindModules(m.Context, modules.Resolver{Dir: dir, Product: d.Product, Mode: modules.AsRecorded})
	if problems.HasErrors() {
		return nil, problems
	}
	for _, p := range d.TakeOutdated() {
		outdated := p.Extra.(modules.Outdated)
		reasons = append(reasons, view.CheckReason{Code: string(outdated.Code), Module: outdated.Key, Detail: p.Summary})
	}
	return reasons, nil
}

// SaveModules writes modules.json and the lock file of modules. It writes nothing after errors of the root module
// or other modules. ProviderProblems don't matter, because the modules
// are right even so.
func (d *Dir) SaveModules() problem.List {
	if d.Tree == nil || d.RootProblems.HasErrors() || d.ModuleProblems.HasErrors() || d.Tree.CheckVersion().HasErrors() {
		return nil
	}
	if err := d.Tree.Save(); err != nil {
		return problem.Unsaved("module_record", "Failed to record the modules", err)
	}
	if d.ToLock == nil {
		return nil
	}
	if err := d.ToLock.Save(modulelock.FileName); err != nil {
		return problem.Unsaved("module_record", "Failed to update the lock file for modules", err)
	}
	return nil
}

// LockFile is the path of the directory's lock file.
func (d *Dir) LockFile() string { return filepath.Join(d.Path, depsfile.FileName) }

// LoadLocks reads the lock file. It adds entries for this product's providers to those that
// the predecessor product wrote: see Disinherit.
func (d *Dir) LoadLocks() (problems problem.List) {
	d.Locks, problems = depsfile.Load(d.LockFile(), d.Product)
	d.written = d.Locks.Clone()
	d.inherited = d.Locks.Inherit(d.Product)
	return problems
}

// SaveLocks writes the lock file, unless another program has changed it since LoadLocks: then saved is false.
func (d *Dir) SaveLocks(locks *depsfile.Locks) (saved bool, err error) {
	is, problems := depsfile.Load(d.LockFile(), d.Product)
	if problems.HasErrors() || !is.Equal(d.written) {
		return !problems.HasErrors() && is.Equal(locks), nil
	}
	if err = locks.Save(d.LockFile(), d.Product); err == nil {
		d.written = locks.Clone()
	}
	return err == nil, err
}

// Disinherit removes the entries that LoadLocks has added for providers that aren't required, because
// the configuration requires the predecessor's addresses. It warns of the others, because from then on both
// products change the file in turn.
func (d *Dir) Disinherit(required getproviders.Requirements) problem.List {
	var changes strings.Builder
	for _, lock := range combine.Disinherit(d.Locks, d.inherited, required, d.Product) {
		own, _ := d.Product.Inherits(lock.Provider)
		fmt.Fprintf(&changes, "\n  - %s => %s", lock.Provider, own)
	}
	if d.inherited = nil; changes.Len() == 0 {
		return nil
	}
	return problem.Warn("", "Dependency lock file entries automatically updated",
		"The lock file has entries that %s wrote. These are taken for providers of %s:%s\n\n"+
			"The versions stay. The hashes can't: the packages of the two registries are not the same.",
		d.Product.Predecessor.Name, d.Product.Name, &changes)
}

// LoadModuleLocks reads the lock file for modules in the current directory. Modules are locked if
// there is one, or if asked is true.
func (d *Dir) LoadModuleLocks(ctx context.Context, asked bool) (problems problem.List) {
	_, err := os.Lstat(modulelock.FileName)
	if !errors.Is(err, fs.ErrNotExist) {
		d.LockedModules, problems = modulelock.Load(ctx, modulelock.FileName)
	}
	d.LocksModules = err == nil || asked
	return problems
}

// CompareModules hashes the modules that aren't local, and returns which of them differ from their lock file, if modules are locked. It sets ToLock to
// the new content of that file. again gets a package once more, to find out from which commit an installed one is, which no record says; nil
// leaves commits out that aren't known.
func (d *Dir) CompareModules(ctx context.Context, again func(context.Context, modules.Record) (modules.Fetched, error)) (differ []modulelock.Finding, problems problem.List) {
	if !d.LocksModules {
		return nil, nil
	}
	var installed []modulelock.Lock
	for _, pkg := range d.Tree.Packages() {
		hash, err := modulelock.HashTree(ctx, pkg.Path)
		if err != nil {
			return nil, problem.Fail("module_changed", "Can't compare a module with its lock file",
				"The module %s can't be read: %v.", pkg.Key, err)
		}
		installed = append(installed, modulelock.Lock{Key: pkg.Key, Source: pkg.Source, Version: pkg.Version, Commit: pkg.Commit, Hash: hash})
	}
	if again != nil {
		for i, pkg := range d.Tree.Packages() {
			d.findCommit(ctx, pkg, &installed[i], again)
		}
	}
	d.ToLock = d.LockedModules.Updated(installed)
	return slices.DeleteFunc(d.LockedModules.Check(installed), func(f modulelock.Finding) bool { return f.State == modulelock.Same }), nil
}

// findCommit sets the commit of a module that is new in the lock file, and that an earlier run has fetched. It is that of its
// address now, if the content is the same: where a tag was moved since, or the repository can't be reached, the lock has no commit.
func (d *Dir) findCommit(ctx context.Context, pkg modules.Package, lock *modulelock.Lock, again func(context.Context, modules.Record) (modules.Fetched, error)) {
	locked := d.LockedModules[pkg.Key]
	if lock.Commit != "" || locked.Source == lock.Source && locked.Version == lock.Version {
		return
	}

	fetched, err := again(ctx, pkg.Record)
	if err != nil || fetched.Commit == "" {
		return
	}
	hash, err := modulelock.HashTree(ctx, fetched.Dir)
	if err == nil && hash == lock.Hash {
		lock.Commit = fetched.Commit
	}
}

// HasOtherContent reports whether a module has the locked source and version, but
// other files.
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
		return fmt.Sprintf("there is an entry for %s, which no module needs", finding.Key)
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

// ModuleDir returns the directory of a module, or dir if its key is unknown.
func (d *Dir) ModuleDir(key, dir string) string {
	for _, pkg := range d.Tree.Packages() {
		if pkg.Key == key {
			return pkg.Path
		}
	}
	return filepath.Clean(dir)
}
