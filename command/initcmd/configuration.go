package initcmd

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/modules"
)

// loadConfiguration reads the root module, after the one that -from-module names
// was copied to its place, and the lock files, if there is a module. What is wrong
// with the module is kept in the Dir.
func loadConfiguration(r request, net sources.Network) (dir *workdir.Dir, moduleLocks workdir.ModuleLocks, problems problem.List) {
	if problems := copyModule(r, net); problems.HasErrors() {
		return nil, moduleLocks, problems
	}
	options := r.opts.modules
	if r.opts.fromModule != "" { // the user can't have looked at it yet
		options.Within = "."
	}
	if dir = workdir.Load(r.meta, r.product, ".", options); dir.Empty() {
		return dir, moduleLocks, nil
	}
	problems = dir.LoadLocks()
	moduleLocks, unread := workdir.LoadModuleLocks(r.opts.lockModules)
	return dir, moduleLocks, append(problems, unread...)
}

// copyModule copies the module that -from-module names into the working
// directory, which becomes the configuration that is initialized.
func copyModule(r request, net sources.Network) problem.List {
	source := r.opts.fromModule
	if source == "" {
		return nil
	}
	if module, problems := configs.LoadModule(".", r.product); !module.Empty || problems.HasErrors() {
		return problem.List{problem.Error("The working directory already contains files. The -from-module option requires\n"+
			"an empty directory into which a copy of the referenced module will be placed.\n\n"+
			"To initialize the configuration already in this working directory, omit the\n-from-module option.", "")}
	}
	shown := modules.Redact(source)
	r.view.CopyingModule(shown)
	installer, fetcher := net.Modules(r.meta, r.product)
	defer fetcher.Close()
	if err := installer.Populate(r.meta.Context, source, "."); err != nil {
		return problem.List{problem.Error("Can't copy the module", fmt.Sprintf("The option -from-module names %s: %v.", shown, err))}
	}
	return nil
}
