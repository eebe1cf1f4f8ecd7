package requirements

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Options say how a directory is read. The zero value is for Terraform, with the
// usual names.
type Options struct {
	Product getproviders.Product

	// DataDir is where modules and backends are recorded, relative to the
	// directory; "" is ".terraform".
	DataDir string

	// Workspace is the workspace whose state counts; "" is the one that the data
	// directory says, which is "default" if it says nothing.
	Workspace string

	// StateFile is read in place of the workspace's state, whatever backend
	// there is. It is relative to the working directory of the process.
	StateFile string

	// TestDirectory and Inputs are as in configs.Options and configs.ReadInputs.
	TestDirectory string
	Inputs        configs.InputSources

	KeepStateAddresses bool // see Parts
}

// Directory is what Read has found.
type Directory struct {
	// Requirements are those of all the following.
	Requirements getproviders.Requirements

	Tree  *modules.Tree // the root module first; never nil
	Locks *depsfile.Locks
	// Inherited are the entries of the lock file that the product's predecessor
	// wrote, and to which Locks has one of the product's own now.
	Inherited []depsfile.Lock
	Backend   *backend.Record // nil: none was recorded
	// StateUnknown reports whether a backend has the state, so that it couldn't
	// be read: the providers of the lock file are required in its place.
	StateUnknown bool
}

// Read reads a working directory, as far as it matters for what it requires. The
// Directory is never nil, and as complete as can be if there are errors. That the
// configuration is for other versions of the product is the only problem then: what is an
// error now may be fine for the version that it wants. A module that
// isn't installed is an error whose Extra is a [modules.Outdated].
func Read(ctx context.Context, dir string, opts Options) (*Directory, hcl.Diagnostics) {
	found := &Directory{}
	problems := found.readTree(ctx, dir, opts)
	if unfit := found.Tree.CheckVersion(opts.Product); unfit.HasErrors() {
		problems = unfit
	}
	locks, unread := depsfile.Load(filepath.Join(dir, depsfile.FileName), opts.Product)
	found.Locks, found.Inherited = locks, locks.Inherit(opts.Product)
	problems = append(problems, unread...)

	state, err := found.readState(dir, opts)
	if err != nil {
		problems = append(problems, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Error loading state", Detail: err.Error()})
	}
	required, invalid := Combine(Parts{
		Product: opts.Product, Tree: found.Tree, Locks: found.Locks,
		State: state, StateUnknown: found.StateUnknown, KeepStateAddresses: opts.KeepStateAddresses,
	})
	found.Requirements = required
	return found, append(problems, invalid...)
}

// readTree loads the root module and the modules below it, as they are recorded.
func (d *Directory) readTree(ctx context.Context, dir string, opts Options) hcl.Diagnostics {
	full, err := filepath.Abs(dir)
	if err != nil {
		full = dir
	}
	values, invalid := configs.ReadInputs(dir, opts.Inputs)
	root, problems := configs.LoadModuleContext(ctx, dir, opts.Product,
		configs.Options{TestDirectory: opts.TestDirectory, Inputs: values, WorkingDir: full})
	if root.Constant || !opts.Product.StaticModules {
		problems = append(invalid, problems...)
	}
	modulesDir := filepath.Join(opts.dataDir(dir), "modules")
	manifest, err := modules.ReadManifest(modulesDir, opts.Product)
	if err != nil {
		problems = append(problems, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Failed to read the record of modules", Detail: err.Error() + "."})
	}
	installer := modules.Resolver{Dir: modulesDir, Product: opts.Product, Mode: modules.AsRecorded, WorkingDir: full}
	tree, below := installer.Resolve(ctx, root, manifest)
	d.Tree = tree
	return slices.Concat(problems, below, tree.CheckProviders(opts.Product))
}

// readState reads the state, if that is in a file.
func (d *Directory) readState(dir string, opts Options) (getproviders.Requirements, error) {
	record, err := backend.Read(filepath.Join(opts.dataDir(dir), backend.FileName))
	if err != nil {
		return nil, err
	}
	d.Backend = record
	if opts.StateFile != "" {
		return configs.StateRequirements(opts.StateFile, opts.Product)
	}
	workspace := opts.Workspace
	if workspace == "" {
		if workspace, err = backend.ReadWorkspace(opts.dataDir(dir)); err != nil {
			return nil, err
		}
	}
	path, ok := record.StateFile(workspace)
	if uninitialized := record == nil && d.Tree.Modules[0].Config.Backend != nil; !ok || uninitialized {
		d.StateUnknown = true
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return configs.StateRequirements(path, opts.Product)
}

func (o Options) dataDir(dir string) string {
	switch {
	case o.DataDir == "":
		return filepath.Join(dir, ".terraform")
	case filepath.IsAbs(o.DataDir):
		return o.DataDir
	}
	return filepath.Join(dir, o.DataDir)
}
