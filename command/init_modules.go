package command

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules"
)

// loadTree finds the modules of the configuration. What is wrong with them is
// kept for checkConfig, because their versions may say that it doesn't matter.
func (r *initRun) loadTree() view.Problems {
	dir := r.modulesDir()
	manifest, err := modules.ReadManifest(dir)
	if err != nil {
		return view.Problems{view.NewError("Failed to read the record of modules", err.Error()+".\n\n"+
			"If the file can't be mended, remove it: it is made anew.")}
	}
	installer := modules.Installer{Dir: dir, Engine: r.engine, Observe: func(record modules.Record) {
		r.view.ModuleInstalled(record.Key, record.Dir)
	}}
	switch {
	case !r.opts.get:
		installer.Mode = modules.Recorded
	case r.opts.upgrade:
		installer.Mode = modules.Upgrade
	}
	if r.opts.get && len(r.module.Calls) > 0 {
		r.view.ModulesBegin(r.opts.upgrade)
	}
	r.tree, r.unusable = installer.Install(r.Context, r.module, manifest)
	return nil
}

// saveModules records where the modules are. After errors in the configuration
// there is nothing that could be relied on, and nothing is recorded.
func (r *initRun) saveModules() view.Problems {
	if r.tree == nil || r.broken.HasErrors() || r.unusable.HasErrors() || r.tree.CheckVersion(r.engine).HasErrors() {
		return nil
	}
	if err := r.tree.Save(); err != nil {
		return view.Problems{view.NewError("Failed to record the modules", err.Error())}
	}
	return nil
}

// modulesDir is where modules are recorded, and those that aren't local are.
func (r *initRun) modulesDir() string { return filepath.Join(r.dataDir(), "modules") }
