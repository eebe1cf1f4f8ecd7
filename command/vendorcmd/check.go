package vendorcmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/vendoring"
)

// check finds out whether vendor would have anything to do, without a request
// and without writing a byte.
func (v *vendorRun) check() problem.List {
	reasons, problems := v.checkModules()
	if len(reasons) > 0 || problems.HasErrors() {
		return v.answer(reasons, problems) // what missing modules need is unknown
	}
	for _, phase := range []func() ([]view.CheckReason, problem.List){v.checkModuleFiles, v.checkProviders, v.checkFiles} {
		found, unclear := phase()
		reasons, problems = append(reasons, found...), append(problems, unclear...)
		if problems.HasErrors() {
			break
		}
	}
	return v.answer(reasons, problems)
}

// answer shows what there is to do, unless it couldn't be found out.
func (v *vendorRun) answer(reasons []view.CheckReason, problems problem.List) problem.List {
	if problems.HasErrors() {
		return problems
	}
	v.outdated = len(reasons) > 0
	v.view.Checked(reasons)
	return append(problems, done(v.view, "")...)
}

// checkModules takes the modules as they are recorded.
func (v *vendorRun) checkModules() (reasons []view.CheckReason, problems problem.List) {
	installer := modules.Resolver{Dir: filepath.FromSlash(vendored.ModulesDir), Product: v.product, WorkingDir: cli.WorkingDirectory(), Mode: modules.AsRecorded}
	if problems := v.dir.FindModules(v.meta.Context, installer); problems.HasErrors() {
		return nil, problems
	}
	for _, p := range v.dir.TakeOutdated() {
		outdated := p.Extra.(modules.Outdated)
		reasons = append(reasons, view.CheckReason{Code: string(outdated.Code), Module: outdated.Key, Detail: p.Summary})
	}
	if problems := v.dir.Problems(); problems.HasErrors() {
		return nil, problems
	}
	return reasons, nil
}

// checkModuleFiles compares packages with what was vendored, and what git would
// keep of them.
func (v *vendorRun) checkModuleFiles() (reasons []view.CheckReason, problems problem.List) {
	keys := []string{}
	for _, m := range v.dir.Tree.Modules {
		keys = append(keys, m.Key)
	}
	for _, pkg := range v.dir.Tree.Packages() {
		code, detail, err := v.checkPackage(pkg)
		if err != nil {
			return nil, problem.List{problem.Error("Can't read a module", fmt.Sprintf("The module %s: %v.", pkg.Key, err))}
		}
		if code != "" {
			reasons = append(reasons, view.CheckReason{Code: code, Module: pkg.Key, Detail: detail})
		}
	}
	if !v.opts.prune {
		return reasons, nil
	}
	unneeded, err := vendored.Unneeded(".", keys)
	if err != nil {
		return nil, problem.List{problem.Error("Can't read the modules", problem.Sentence(err))}
	}
	for _, name := range unneeded {
		reasons = append(reasons, view.CheckReason{Code: "module_unneeded", Detail: vendored.ModulesDir + "/" + name + " isn't needed"})
	}
	return reasons, nil
}

// checkPackage says what is wrong with the package of a module; no code: nothing.
func (v *vendorRun) checkPackage(pkg modules.Package) (code, detail string, err error) {
	dir := filepath.Join(filepath.FromSlash(vendored.ModulesDir), pkg.Key)
	if filepath.Clean(pkg.Path) != dir {
		return "module_elsewhere", "it is in " + filepath.ToSlash(pkg.Path) + ", which is not vendored", nil
	}
	hash, err := modulelock.HashTree(v.meta.Context, dir)
	if err != nil {
		return "", "", err
	}
	untidy, err := vendored.Untidy(v.meta.Context, dir, v.dirsOf(pkg.Key))
	was, known := v.was.Modules[pkg.Key]
	v.record.Modules[pkg.Key] = hash
	switch {
	case err != nil:
		return "", "", err
	case !known:
		return "module_unrecorded", "it is installed, and " + vendored.RecordName + " says nothing of it", nil
	case was != hash:
		return "module_differs", "it isn't what was vendored", nil
	case len(untidy) > 0:
		return "module_untidy", "git would not keep it as it is, because of " + untidy[0], nil
	}
	return "", "", nil
}

// checkProviders has the engine compare packages with the lock file.
func (v *vendorRun) checkProviders() (reasons []view.CheckReason, problems problem.List) {
	if problems = problem.InOrder(v.require, v.findPlaced); problems.HasErrors() {
		return nil, problems
	}
	fetcher := fetcher.Fetcher{Product: v.product, Now: v.meta.Now, StateDir: v.meta.StateDir}
	status, err := vendoring.Check(v.meta.Context, &fetcher, v.vendorOptions(), v.request())
	if err != nil {
		return nil, append(problems, problem.Error("Can't compare what is vendored", problem.Sentence(err)))
	}
	v.record.Providers = v.vendoredProviders()
	for _, reason := range status.Reasons {
		told := view.CheckReason{Code: reason.Code, Provider: reason.Provider, Detail: reason.Detail}
		if told.Provider == (getproviders.Provider{}) {
			told.Detail = vendored.PluginsDir + "/" + told.Detail
		}
		reasons = append(reasons, told)
	}
	return reasons, append(problems, v.checkPointers(len(reasons))...)
}

// checkPointers explains packages that git LFS hasn't brought.
func (v *vendorRun) checkPointers(reasons int) problem.List {
	files, err := vendored.Files(".", []string{vendored.PluginsDir})
	if pointers := vendored.Pointers(".", files); err == nil && reasons > 0 && len(pointers) > 0 {
		return problem.List{problem.Warning("Packages are kept by git LFS", fmt.Sprintf(
			"%s is a pointer to a package that isn't here. Install git LFS, and run \"git lfs pull\".", pointers[0].Name))}
	}
	return nil
}

// checkFiles compares the files that tell of all this.
func (v *vendorRun) checkFiles() (reasons []view.CheckReason, problems problem.List) {
	for _, file := range v.gitFiles() {
		outdated, err := file.block.Outdated(file.name)
		if err != nil {
			return nil, problem.List{problem.Error("Can't read what git ignores", problem.Sentence(err))}
		}
		if outdated {
			reasons = append(reasons, view.CheckReason{Code: "git_file_differs", Detail: file.name + " doesn't say, at its end, what git is to keep"})
		}
	}
	if !bytes.Equal(v.record.Encode(), v.was.Encode()) || !v.wasVendored() {
		reasons = append(reasons, view.CheckReason{Code: "record_differs", Detail: vendored.RecordName + " would be written again"})
	}
	if path := filepath.Join(filepath.FromSlash(vendored.ModulesDir), modules.ManifestName); len(v.dir.Tree.Modules) > 1 {
		if recorded, err := os.ReadFile(path); err == nil && !bytes.Equal(recorded, v.manifest().Encode()) {
			reasons = append(reasons, view.CheckReason{Code: "module_record_differs", Detail: filepath.ToSlash(path) + " would be written again"})
		}
	}
	return reasons, nil
}

// wasVendored reports whether there is a record.
func (v *vendorRun) wasVendored() bool { return len(v.was.Platforms) > 0 }
