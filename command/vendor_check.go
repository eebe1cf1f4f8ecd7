package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// check finds out whether vendor would have anything to do, without a request
// and without writing a byte.
func (r *vendorRun) check() (problems view.Problems) {
	var reasons []view.CheckReason
	complete := true
	for _, phase := range []func() ([]view.CheckReason, view.Problems){r.checkModules, r.checkModuleFiles, r.checkProviders, r.checkFiles} {
		if !complete {
			break // modules are missing, and nobody knows what these need
		}
		found, unclear := phase()
		reasons, problems = append(reasons, found...), append(problems, unclear...)
		if problems.HasErrors() {
			return problems
		}
		complete = r.tree != nil && !r.unusable.HasErrors()
	}
	r.outdated = len(reasons) > 0
	r.view.Checked(reasons)
	return append(problems, r.done("")...)
}

// checkModules takes the modules as they are recorded.
func (r *vendorRun) checkModules() (reasons []view.CheckReason, problems view.Problems) {
	installer := modules.Installer{Dir: filepath.FromSlash(vendored.ModulesDir), Product: r.product, WorkingDir: workingDirectory(), Mode: modules.AsRecorded}
	if problems := r.findModules(r.Context, installer); problems.HasErrors() {
		return nil, problems
	}
	found := r.unusable
	r.unusable = nil
	for _, p := range found {
		if outdated, ok := p.Extra.(modules.Outdated); ok {
			reasons = append(reasons, view.CheckReason{Code: string(outdated.Code), Module: outdated.Key, Detail: p.Summary})
		} else {
			r.unusable = append(r.unusable, p)
		}
	}
	if problems := r.problems(r.product); problems.HasErrors() {
		return nil, problems
	}
	if len(reasons) > 0 {
		r.unusable = found
	}
	return reasons, nil
}

// checkModuleFiles compares packages with what was vendored, and what git would
// keep of them.
func (r *vendorRun) checkModuleFiles() (reasons []view.CheckReason, problems view.Problems) {
	keys := []string{}
	for _, m := range r.tree.Modules {
		keys = append(keys, m.Key)
	}
	for _, pkg := range r.tree.Packages() {
		code, detail, err := r.checkPackage(pkg)
		if err != nil {
			return nil, view.Problems{view.NewError("Can't read a module", fmt.Sprintf("The module %s: %v.", pkg.Key, err))}
		}
		if code != "" {
			reasons = append(reasons, view.CheckReason{Code: code, Module: pkg.Key, Detail: detail})
		}
	}
	if !r.opts.prune {
		return reasons, nil
	}
	unneeded, err := vendored.Unneeded(".", keys)
	if err != nil {
		return nil, view.Problems{view.NewError("Can't read the modules", sentence(err))}
	}
	for _, name := range unneeded {
		reasons = append(reasons, view.CheckReason{Code: "module_unneeded", Detail: vendored.ModulesDir + "/" + name + " isn't needed"})
	}
	return reasons, nil
}

// checkPackage says what is wrong with the package of a module; no code: nothing.
func (r *vendorRun) checkPackage(pkg modules.Package) (code, detail string, err error) {
	dir := filepath.Join(filepath.FromSlash(vendored.ModulesDir), pkg.Key)
	if filepath.Clean(pkg.Path) != dir {
		return "module_elsewhere", "it is in " + filepath.ToSlash(pkg.Path) + ", which is not vendored", nil
	}
	hash, err := modulelock.HashTree(r.Context, dir)
	if err != nil {
		return "", "", err
	}
	untidy, err := vendored.Untidy(r.Context, dir, r.homes(pkg.Key))
	was, known := r.was.Modules[pkg.Key]
	r.record.Modules[pkg.Key] = hash
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
func (r *vendorRun) checkProviders() (reasons []view.CheckReason, problems view.Problems) {
	if problems = r.inOrder(r.require, r.findPlaced); problems.HasErrors() {
		return nil, problems
	}
	installer := providercache.Installer{
		Fetcher: &providercache.Fetcher{Product: r.product, Now: r.Now, StateDir: r.StateDir},
	}
	status, err := providercache.CheckVendored(r.Context, installer.Fetcher, r.vendorOptions(), r.request())
	if err != nil {
		return nil, append(problems, view.NewError("Can't compare what is vendored", sentence(err)))
	}
	r.record.Providers = r.vendoredProviders()
	for _, reason := range status.Reasons {
		told := view.CheckReason{Code: reason.Code, Provider: reason.Provider, Detail: reason.Detail}
		if told.Provider == (getproviders.Provider{}) {
			told.Detail = vendored.PluginsDir + "/" + told.Detail
		}
		reasons = append(reasons, told)
	}
	return reasons, append(problems, r.checkPointers(len(reasons))...)
}

// checkPointers explains packages that git LFS hasn't brought.
func (r *vendorRun) checkPointers(reasons int) view.Problems {
	files, err := vendored.Files(".", []string{vendored.PluginsDir})
	if pointers := vendored.Pointers(".", files); err == nil && reasons > 0 && len(pointers) > 0 {
		return view.Problems{view.NewWarning("Packages are kept by git LFS", fmt.Sprintf(
			"%s is a pointer to a package that isn't here. Install git LFS, and run \"git lfs pull\".", pointers[0].Name))}
	}
	return nil
}

// checkFiles compares the files that tell of all this.
func (r *vendorRun) checkFiles() (reasons []view.CheckReason, problems view.Problems) {
	for _, file := range r.gitFiles() {
		outdated, err := file.block.Outdated(file.name)
		if err != nil {
			return nil, view.Problems{view.NewError("Can't read what git is told", sentence(err))}
		}
		if outdated {
			reasons = append(reasons, view.CheckReason{Code: "git_file_differs", Detail: file.name + " doesn't say, at its end, what git is to keep"})
		}
	}
	if !bytes.Equal(r.record.Encode(), r.was.Encode()) || !r.wasVendored() {
		reasons = append(reasons, view.CheckReason{Code: "record_differs", Detail: vendored.RecordName + " would be written anew"})
	}
	if path := filepath.Join(filepath.FromSlash(vendored.ModulesDir), modules.ManifestName); len(r.tree.Modules) > 1 {
		if recorded, err := os.ReadFile(path); err == nil && !bytes.Equal(recorded, r.manifest().Encode()) {
			reasons = append(reasons, view.CheckReason{Code: "module_record_differs", Detail: filepath.ToSlash(path) + " would be written anew"})
		}
	}
	return reasons, nil
}

// wasVendored reports whether there is a record.
func (r *vendorRun) wasVendored() bool { return len(r.was.Platforms) > 0 }
