package command

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
)

// configuration is a root module with the modules below it.
type configuration struct {
	module   *configs.Module
	tree     *modules.Tree
	broken   view.Problems // what is wrong with the root module, warnings included
	unusable view.Problems // what is wrong with the modules below it
	misfit   view.Problems // what is wrong with how their providers fit together
}

// load reads the root module in a directory. What is wrong with the values of
// variables matters only to a module that is computed from them.
func (c *configuration) load(dir string, m *Meta, product getproviders.Product, opts configurationOptions) {
	values, invalid := configs.ReadInputs(dir, configs.InputSources{Arguments: opts.inputs, Environ: m.Env})
	c.module, c.broken = configs.LoadModuleWith(dir, product, configs.Options{
		TestDirectory: opts.testDirectory, Inputs: values, WorkingDir: workingDirectory(),
	})
	if c.module.Constant {
		c.broken = append(invalid, c.broken...)
	}
}

// findModules walks the tree below the root module, as the installer's mode
// says. What is wrong with the modules is kept, because their versions may say
// that it doesn't matter.
func (c *configuration) findModules(ctx context.Context, installer modules.Installer) view.Problems {
	manifest, err := modules.ReadManifest(installer.Dir, installer.Product)
	if err != nil {
		return view.Problems{view.NewError("Failed to read the record of modules", err.Error()+".\n\n"+
			"If the file can't be mended, remove it: it is made anew.")}
	}
	c.tree, c.unusable = installer.Install(ctx, c.module, manifest)
	c.misfit = c.tree.CheckProviders(installer.Product)
	return nil
}

// problems says what is wrong with the configuration. That it is for other
// versions of the product is told alone: what is an error now may be fine for
// the version that is asked for.
func (c *configuration) problems(product getproviders.Product) view.Problems {
	if unfit := c.tree.CheckVersion(product); unfit.HasErrors() {
		return unfit
	}
	return slices.Concat(c.broken, c.unusable, c.misfit)
}

// saveModules records where the modules are. After errors in the configuration
// there is nothing that could be relied on, and nothing is recorded. That providers don't fit
// together says nothing against the modules.
func (c *configuration) saveModules(product getproviders.Product) view.Problems {
	if c.tree == nil || c.broken.HasErrors() || c.unusable.HasErrors() || c.tree.CheckVersion(product).HasErrors() {
		return nil
	}
	if err := c.tree.Save(); err != nil {
		return view.Problems{view.NewError("Failed to record the modules", err.Error())}
	}
	return nil
}
