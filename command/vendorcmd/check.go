package vendorcmd

import (
	"bytes"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// check finds out whether vendor would have anything to do, and prints the reasons. It sends no request
// and writes nothing.
func check(r request, p project) (code int) {
	reasons, ok := findReasons(r, p)
	if !ok {
		return 0
	}
	if r.view.Checked(reasons); len(reasons) > 0 {
		return cli.ExitDiffers
	}
	return 0
}

// findReasons checks what the phases of vendor would do, until one of the checks
// fails.
func findReasons(r request, p project) (reasons []view.CheckReason, ok bool) {
	reasons, ok = checkModules(r, p.dir)
	if len(reasons) > 0 || !ok {
		return reasons, ok // the requirements of missing modules are unknown
	}
	is := p.wanted // the new record
	for _, phase := range []func(request, project, *vendored.Record) ([]view.CheckReason, bool){checkModuleFiles, checkProviders, checkFiles} {
		found, ok := phase(r, p, &is)
		if reasons = append(reasons, found...); !ok {
			return nil, false
		}
	}
	return reasons, true
}

// checkModules compares the configuration with modules.json.
func checkModules(r request, dir *workdir.Dir) (reasons []view.CheckReason, ok bool) {
	reasons, problems := dir.CheckRecorded(r.Meta, filepath.FromSlash(vendored.ModulesDir))
	if !r.Log.Add(problems...) {
		return nil, false
	}
	if problems := products.ExplainVersion(r.Meta, r.Product, dir.Problems()); problems.HasErrors() {
		return nil, r.Log.Add(problems...)
	}
	return reasons, true
}

// checkModuleFiles compares packages with the record, and checks that git would
// keep all of their files. It sets their hashes in is.
func checkModuleFiles(r request, p project, is *vendored.Record) (reasons []view.CheckReason, ok bool) {
	keys := []string{}
	for _, m := range p.dir.Tree.Modules {
		keys = append(keys, m.Key)
	}
	for _, pkg := range p.dir.Tree.Packages() {
		code, detail, err := checkPackage(r, p, pkg, is.Modules)
		if err != nil {
			return nil, r.Log.Fail("module_package_failed", "Can't read a module", "The module %s: %v.", pkg.Key, err)
		}
		if code != "" {
			reasons = append(reasons, view.CheckReason{Code: code, Module: pkg.Key, Detail: detail})
		}
	}
	if !r.opts.prune {
		return reasons, true
	}
	unneeded, err := vendored.Unneeded(".", keys)
	if err != nil {
		return nil, r.Log.Failed("module_package_failed", "Can't read the modules", err)
	}
	for _, name := range unneeded {
		reasons = append(reasons, view.CheckReason{Code: "module_unneeded", Detail: vendored.ModulesDir + "/" + name + " isn't needed"})
	}
	return reasons, true
}

// checkPackage returns how the package of a module differs; code is "" if it doesn't.
// It adds the package's hash to hashes.
func checkPackage(r request, p project, pkg modules.Package, hashes map[string]getproviders.Hash) (code, detail string, err error) {
	dir := filepath.Join(filepath.FromSlash(vendored.ModulesDir), pkg.Key)
	if filepath.Clean(pkg.Path) != dir {
		return "module_elsewhere", "it is in " + filepath.ToSlash(pkg.Path) + ", which is not vendored", nil
	}
	hash, err := modulelock.HashTree(r.Meta.Context, dir)
	if err != nil {
		return "", "", err
	}
	untidy, err := vendored.Untidy(r.Meta.Context, dir, dirsOf(p.dir.Tree, pkg.Key))
	was, known := p.was.Modules[pkg.Key]
	hashes[pkg.Key] = hash
	switch {
	case err != nil:
		return "", "", err
	case !known:
		return "module_unrecorded", "it is installed, and " + vendored.RecordName + " has no entry for it", nil
	case was != hash:
		return "module_differs", "it isn't what was vendored", nil
	case len(untidy) > 0:
		return "module_untidy", "git would change it, because of " + untidy[0], nil
	}
	return "", "", nil
}

// checkProviders compares packages with the lock file. It sets the
// providers in is.
func checkProviders(r request, p project, is *vendored.Record) (reasons []view.CheckReason, ok bool) {
	required, ok := require(r, p)
	if !ok {
		return nil, false
	}
	placed, ok := findPlaced(r, p.was)
	if !ok {
		return nil, false
	}
	if !r.ReadPolicy(r.opts.policies) {
		return nil, false
	}
	fetcher := providercache.Fetcher{Product: r.Product, Now: r.Meta.Now, StateDir: r.Meta.StateDir, Policy: r.Policy.Against(p.dir.Locks, nil)}
	status, err := mirror.CheckVendored(r.Meta.Context, &fetcher, placing(r, p, placed, required), packages(r, p, required))
	if err != nil {
		return nil, r.Log.Failed("vendored", "Can't compare what is vendored", err)
	}
	is.Providers = recorded(r, p.was, managed(required, placed))
	for _, reason := range status.Reasons {
		reason = r.Policy.Explain(reason, p.dir.Locks)
		shown := view.CheckReason{Code: reason.Code, Provider: reason.Provider, Detail: reason.Detail}
		if shown.Provider == (getproviders.Provider{}) {
			shown.Detail = vendored.PluginsDir + "/" + shown.Detail
		}
		reasons = append(reasons, shown)
	}
	for _, refusal := range r.Policy.CheckLocks(p.dir.Locks, required.Providers()) {
		reasons = append(reasons, view.CheckReason{Code: "package_refused", Provider: refusal.Provider, Detail: refusal.Error()})
	}
	if len(reasons) > 0 {
		checkPointers(r)
	}
	return reasons, true
}

// checkPointers warns of packages that git LFS hasn't downloaded.
func checkPointers(r request) {
	files, err := vendored.Files(".", []string{vendored.PluginsDir})
	if pointers := vendored.Pointers(".", files); err == nil && len(pointers) > 0 {
		r.Log.Warningf("", "Packages are kept by git LFS",
			"%s is a pointer to a package that isn't here. Install git LFS, and run \"git lfs pull\".", pointers[0].Name)
	}
}

// checkFiles compares the files beside the packages and modules: the record, and those of git.
func checkFiles(r request, p project, is *vendored.Record) (reasons []view.CheckReason, ok bool) {
	for _, file := range gitFiles(is.LFS) {
		outdated, err := file.block.Outdated(file.name)
		if err != nil {
			return nil, r.Log.Failed("vendored", "Can't read what git ignores", err)
		}
		if outdated {
			reasons = append(reasons, view.CheckReason{Code: "git_file_differs", Detail: file.name + " lacks the current block at its end that tells git what to keep"})
		}
	}
	if !bytes.Equal(is.Encode(), p.was.Encode()) || !exists(p.was) {
		reasons = append(reasons, view.CheckReason{Code: "record_differs", Detail: vendored.RecordName + " would be written again"})
	}
	if path := filepath.Join(filepath.FromSlash(vendored.ModulesDir), modules.ManifestName); len(p.dir.Tree.Modules) > 1 {
		if recorded, err := wholefile.Read(path, 64<<20); err == nil && !bytes.Equal(recorded, manifestOf(r, p.dir.Tree).Encode()) {
			reasons = append(reasons, view.CheckReason{Code: "module_record_differs", Detail: filepath.ToSlash(path) + " would be written again"})
		}
	}
	return reasons, true
}
