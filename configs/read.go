package configs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/combine"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Options say how a directory is read. The zero value is for Terraform with the default names.
type Options struct {
	Product getproviders.Product

	// FS has the directory and everything else that is read, such as an editor's buffers over the
	// files on disk; nil means the file system of the process. In an FS all paths have slashes and
	// stay inside, modules with a path are read from there whether or not they are recorded, and
	// path.cwd is unknown. Nothing is written or fetched.
	FS fs.FS

	// DataDir has the records of modules and backends, relative to the directory; "" means
	// ".terraform".
	DataDir string

	// Workspace is the workspace whose state is read; "" means the one that the data directory
	// records, or "default".
	Workspace string

	// StateFile is read in place of the workspace's state, whatever the backend. It is relative to
	// the working directory of the process, or in the FS.
	StateFile string

	TestDirectory string // the directory with the tests; "" means "tests"

	// Variables are the options -var and -var-file, as NAME=VALUE and @FILE. Environ is the environment, which also has values of
	// variables.
	Variables, Environ []string

	// KeepStateAddresses keeps the addresses of providers in the state; else those of the product's predecessor become the product's
	// own.
	KeepStateAddresses bool
}

// Directory is the result of Read.
type Directory struct {
	// Requirements are those of Modules, Locks and the state.
	Requirements getproviders.Requirements

	Modules []Module // the root module first, each before those that it calls
	Locks   *depsfile.Locks
	// Inherited are the entries that the product's predecessor wrote into the lock file, and for
	// which Locks now has entries of the product's own.
	Inherited []depsfile.Lock
	Backend   string // the type of the recorded backend; "" if none is recorded
	// StateUnknown reports whether the state can't be read because it is in a backend or encrypted:
	// the providers of the lock file are required in its place.
	StateUnknown bool
}

// Read reads what a working directory requires. The Directory is never nil, and as complete as
// errors allow. If the configuration is for other versions of the product, that replaces the problems
// of the modules, which may be none for those versions; those of the lock file and of the state
// follow. A directory that doesn't exist is an error. A module that isn't installed is an error whose Extra is an
// [OutdatedModule].
func Read(ctx context.Context, dir string, opts Options) (*Directory, hcl.Diagnostics) {
	opts.Product = opts.Product.OrDefault()
	root, manifest, resolver, problems := open(ctx, dir, "", opts, modules.AsRecorded)
	tree, below := resolver.Resolve(ctx, root, manifest)
	problems = slices.Concat(problems, below, tree.CheckProviders())
	found := &Directory{Modules: modulesOf(tree)}
	if unfit := tree.CheckVersion(); unfit.HasErrors() {
		problems = unfit
	}
	locks, unread := depsfile.LoadFS(opts.FS, filepath.Join(dir, depsfile.FileName), opts.Product)
	found.Locks, found.Inherited = locks, locks.Inherit(opts.Product)
	problems = append(problems, unread...)

	state, err := found.readState(dir, opts, root.Backend != nil)
	if err != nil {
		problems = append(problems, diagnostic.Placeless("Error loading state", "%v", err))
	}
	required, invalid := combine.Combine(combine.Parts{
		Product: opts.Product, Tree: tree, Locks: found.Locks,
		State: state, StateUnknown: found.StateUnknown, KeepStateAddresses: opts.KeepStateAddresses,
	})
	found.Requirements = required
	found.Inherited = combine.Disinherit(locks, found.Inherited, required, opts.Product)
	return found, append(problems, invalid...)
}

// readState reads the state if it is in a file. hasBackend says that the root module has a backend block.
func (d *Directory) readState(dir string, opts Options, hasBackend bool) (getproviders.Requirements, error) {
	record, err := backend.Read(opts.FS, filepath.Join(opts.dataDir(dir), backend.FileName), opts.Product)
	if err != nil {
		return nil, err
	}
	if record != nil {
		d.Backend = record.Type
	}
	if opts.StateFile != "" {
		return load.StateRequirements(opts.FS, opts.StateFile, opts.Product)
	}
	path, ok := record.StateFile(cmp.Or(opts.Workspace, backend.ReadWorkspace(opts.FS, opts.dataDir(dir))))
	if uninitialized := record == nil && hasBackend; !ok || uninitialized {
		d.StateUnknown = true
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	required, err := load.StateRequirements(opts.FS, path, opts.Product)
	if errors.Is(err, load.ErrStateEncrypted) && dialect.Of(opts.Product).Understands("encryption") {
		d.StateUnknown, err = true, nil
	}
	return required, err
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
