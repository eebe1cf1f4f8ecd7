package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// ExitDiffers is the exit code of commands that answer a question: what they
// were asked about isn't as it should be. 0 means that it is, 1 that nobody knows.
const ExitDiffers = 2

// checkRun is a run that changes nothing.
type checkRun struct {
	*initRun
	incomplete bool // modules are missing, which may call others and require providers
}

// check is what init -check does: it finds out whether an init would have
// anything to do, without a request and without writing a byte. What would keep
// an init from succeeding is an error.
func (r *initRun) check() view.Problems {
	c := checkRun{initRun: r}
	return c.all()
}

// all asks one after the other what an init would see to.
func (r *checkRun) all() view.Problems {
	if errors := r.keepErrors(r.readSettings()); errors.HasErrors() {
		return errors
	}
	r.load(".", r.Meta, r.product, r.opts.configurationOptions)
	var reasons []view.CheckReason
	if !r.module.Empty || r.broken.HasErrors() {
		for _, phase := range []func() ([]view.CheckReason, view.Problems){
			r.checkPluginDirs, r.checkBackend, r.checkModules, r.checkModuleLock, r.checkProviders,
		} {
			found, problems := phase()
			if errors := r.keepErrors(problems); errors.HasErrors() {
				return errors
			}
			reasons = append(reasons, found...)
		}
	}
	r.outdated = len(reasons) > 0
	r.view.Problems(r.warnings)
	r.view.Checked(reasons)
	return nil
}

// checkPluginDirs compares what -plugin-dir says with what was recorded of it.
func (r *checkRun) checkPluginDirs() ([]view.CheckReason, view.Problems) {
	if !r.opts.pluginDirGiven || r.pluginDirsRecorded(r.opts.pluginDirs) {
		return nil, nil
	}
	return []view.CheckReason{{Code: "plugin_dirs_changed", Detail: "-plugin-dir has other values than those that are recorded"}}, nil
}

// checkBackend compares the backend with its record.
func (r *checkRun) checkBackend() ([]view.CheckReason, view.Problems) {
	problems := r.readRecord()
	if !r.opts.backend || problems.HasErrors() {
		return nil, problems
	}
	config, change, problems := r.compareBackend(r.record)
	if problems.HasErrors() {
		return nil, problems
	}
	because := func(code, detail string) ([]view.CheckReason, view.Problems) {
		return []view.CheckReason{{Code: code, Detail: detail}}, problems
	}
	switch change {
	case backend.Added:
		return because("backend_uninitialized", fmt.Sprintf("the backend %q isn't recorded in %s", config.Type, filepath.ToSlash(r.recordPath())))
	case backend.Removed:
		return because("backend_removed", fmt.Sprintf("the backend %q is recorded, and the configuration has none", r.record.Type))
	case backend.Changed, backend.Replaced:
		return because("backend_changed", fmt.Sprintf("the backend isn't the one that is recorded in %s", filepath.ToSlash(r.recordPath())))
	case backend.Rehashed:
		return because("backend_changed", "the block says the same in other words, and its record would be written anew")
	case backend.Unchanged:
		return nil, append(problems, r.checkWorkspace(r.record)...)
	}
	return nil, problems
}

// checkModules takes the modules as they are recorded.
func (r *checkRun) checkModules() (reasons []view.CheckReason, problems view.Problems) {
	installer := modules.Installer{Dir: r.modulesDir(), Product: r.product, Mode: modules.AsRecorded}
	if problems := r.findModules(r.Context, installer); problems.HasErrors() {
		return nil, problems
	}
	var unusable view.Problems
	for _, p := range r.unusable {
		if outdated, ok := p.Extra.(modules.Outdated); ok {
			reasons = append(reasons, view.CheckReason{Code: string(outdated.Code), Module: outdated.Key, Detail: p.Summary})
		} else {
			unusable = append(unusable, p)
		}
	}
	r.unusable = unusable
	if problems := r.problems(r.product); problems.HasErrors() {
		return nil, problems
	}
	if r.incomplete = len(reasons) > 0; r.incomplete || len(r.module.Calls) == 0 {
		return reasons, nil
	}
	path := filepath.Join(r.modulesDir(), modules.ManifestName)
	if !wholefile.Has(path, r.tree.Manifest.Encode()) {
		reasons = append(reasons, view.CheckReason{Code: "module_record_differs", Detail: filepath.ToSlash(path) + " would be written anew"})
	}
	return reasons, nil
}

// checkModuleLock compares the modules with their lock file, if there is one or
// is to be one. Where some aren't there, it can't be told.
func (r *checkRun) checkModuleLock() (reasons []view.CheckReason, problems view.Problems) {
	problems = r.loadModuleLocks()
	if r.incomplete || !r.lockingModules || problems.HasErrors() {
		return nil, problems
	}
	installed, unreadable := r.installedModules()
	if problems = append(problems, unreadable...); problems.HasErrors() {
		return nil, problems
	}
	for _, finding := range r.modulesLocked.Check(installed) {
		if finding.State != modulelock.Same {
			reasons = append(reasons, view.CheckReason{Code: "module_differs", Module: finding.Key, Detail: moduleChange(finding)})
		}
	}
	return reasons, problems
}

// checkProviders has the engine compare what is required, locked and installed.
func (r *checkRun) checkProviders() (reasons []view.CheckReason, problems view.Problems) {
	if problems = r.loadLocks(); !problems.HasErrors() {
		problems = append(problems, r.collectRequirements()...)
	}
	if problems.HasErrors() {
		return nil, problems
	}
	installer := r.installer()
	installer.Fetcher.Observe = nil
	status, err := installer.Check(r.Context, r.req, r.locks)
	if err != nil {
		return nil, view.Problems{view.NewError("Can't compare what is installed", err.Error())}
	}
	for _, reason := range status.Reasons {
		if r.incomplete && reason.Code == "lock_extra_provider" {
			continue
		}
		reasons = append(reasons, view.CheckReason{Code: reason.Code, Provider: reason.Provider, Detail: reason.Detail})
	}
	return reasons, problems
}

// pluginDirsRecorded reports whether the record of -plugin-dir has these values.
func (m *Meta) pluginDirsRecorded(dirs []string) bool {
	recorded, err := wholefile.Read(m.pluginDirsPath(), maxPluginDirs)
	if errors.Is(err, fs.ErrNotExist) {
		return len(dirs) == 0
	}
	content, encodeErr := encodePluginDirs(dirs)
	return err == nil && encodeErr == nil && len(dirs) > 0 && bytes.Equal(recorded, content)
}
