package initcmd

import (
	"fmt"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// checkPluginDirs compares what -plugin-dir says with what is recorded of it.
func checkPluginDirs(r request) []view.CheckReason {
	if !r.opts.pluginDirGiven || pluginDirsRecorded(pluginDirsPath(r.meta.Env), r.opts.pluginDirs) {
		return nil
	}
	return []view.CheckReason{{Code: "plugin_dirs_changed", Detail: "-plugin-dir has other values than those that are recorded"}}
}

// checkBackend compares the backend with its record.
func checkBackend(r request, dir *workdir.Dir, record *backend.Record) ([]view.CheckReason, problem.List) {
	if !r.opts.backend.initialize {
		return nil, nil
	}
	b := backendState{request: r, block: dir.Root.Backend, record: record}
	config, change, problems := b.compare(record)
	if problems.HasErrors() {
		return nil, problems
	}
	path := filepath.ToSlash(workdir.RecordPath(r.meta.Env))
	because := func(code, detail string) ([]view.CheckReason, problem.List) {
		return []view.CheckReason{{Code: code, Detail: detail}}, problems
	}
	switch change {
	case backend.Added:
		return because("backend_uninitialized", fmt.Sprintf("the backend %q isn't recorded in %s", config.Type, path))
	case backend.Removed:
		return because("backend_removed", fmt.Sprintf("the backend %q is recorded, and the configuration has none", record.Type))
	case backend.Changed, backend.Replaced:
		return because("backend_changed", fmt.Sprintf("the backend isn't the one that is recorded in %s", path))
	case backend.Rehashed:
		return because("backend_changed", "the block says the same in other words, and its record would be written again")
	case backend.Unchanged:
		missing, others, more := missingWorkspace(r, record)
		switch problems = append(problems, more...); {
		case others:
			return nil, append(problems, doesNotExist(r, missing))
		case missing != "":
			return because("workspace_missing", fmt.Sprintf("the selected workspace %q doesn't exist, and the default one would be selected", missing))
		}
	}
	return nil, problems
}

// checkInstalledModules takes the modules as they are recorded.
func checkInstalledModules(r request, dir *workdir.Dir) (reasons []view.CheckReason, problems problem.List) {
	if reasons, problems = dir.CheckRecorded(r.meta, workdir.ModulesDir(r.meta.Env)); problems.HasErrors() {
		return nil, problems
	}
	if problems := products.ExplainVersion(r.meta, r.product, dir.Problems()); problems.HasErrors() {
		return nil, problems
	}
	if len(reasons) > 0 || len(dir.Root.Calls) == 0 {
		return reasons, nil
	}
	path := filepath.Join(workdir.ModulesDir(r.meta.Env), modules.ManifestName)
	if !wholefile.Has(path, dir.Tree.Manifest.Encode()) {
		reasons = append(reasons, view.CheckReason{Code: "module_record_differs", Detail: filepath.ToSlash(path) + " would be written again"})
	}
	return reasons, nil
}

// checkModuleLock compares the modules with their lock file, if there is one or
// is to be one.
func checkModuleLock(in *installation) (reasons []view.CheckReason, problems problem.List) {
	if !in.moduleLocks.Kept {
		return nil, nil
	}
	installed, problems := in.dir.InstalledModules(in.meta.Context)
	if problems.HasErrors() {
		return nil, problems
	}
	for _, finding := range in.moduleLocks.Locked.Check(installed) {
		if finding.State != modulelock.Same {
			reasons = append(reasons, view.CheckReason{Code: "module_differs", Module: finding.Key, Detail: workdir.ModuleChange(finding)})
		}
	}
	return reasons, problems
}
