package command

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/modules"
)

// copyModule copies the module that -from-module names into the working
// directory, which becomes the configuration that is initialized.
func (r *initRun) copyModule() view.Problems {
	source := r.opts.fromModule
	if source == "" {
		return nil
	}
	if module, problems := configs.LoadModule(".", r.product); !module.Empty || problems.HasErrors() {
		return view.Problems{view.NewError("The working directory already contains files",
			"The -from-module option requires an empty directory into which a copy of the referenced module will be placed.\n\n"+
				"To initialize the configuration already in this working directory, omit the -from-module option.")}
	}
	shown := modules.Redact(source)
	r.view.CopyingModule(shown)
	installer, fetcher := r.moduleInstaller(r.product, r.network, r.moduleStore())
	defer fetcher.Close()
	if err := installer.Populate(r.Context, source, "."); err != nil {
		return view.Problems{view.NewError("Can't copy the module", fmt.Sprintf("The option -from-module names %s: %v.", shown, err))}
	}
	return nil
}
