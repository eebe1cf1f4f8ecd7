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
)

// Options say how a directory is read. The zero value is for Terraform, with the
// usual names.
type Options struct {
	Product getproviders.Product

	// FS is where the directory is with all that is read, such as an editor's buffers over
	// the files on disk; nil: the file system of the process. In an FS all paths have slashes and
	// lead nowhere out of it, modules with a path are taken where they are, recorded or not, and
	// path.cwd is unknown. Nothing is written or fetched there.
	FS fs.FS

	// DataDir is where modules and backends are recorded, relative to the
	// directory; "" is ".terraform".
	DataDir string

	// Workspace is the workspace whose state counts; "" is the one that the data
	// directory says, which is "default" if it says nothing.
	Workspace string

	// StateFile is read in place of the workspace's state, whatever backend
	// there is. It is relative to the working directory of the process, or in the FS.
	StateFile string

	TestDirectory string // has the tests; "" is "tests"

	// Variables are the options -var and -var-file, as NAME=VALUE and @FILE, and Environ is the environment: values of variables come
	// from there, too.
	Variables, Environ []string

	// KeepStateAddresses requires providers of the state by the very addresses that are there; else those of the product's predecessor
	// are the product's own.
	KeepStateAddresses bool
}

// Directory is what Read has found.
type Directory struct {
	// Requirements are those of all the following.
	Requirements getproviders.Requirements

	Modules []Module // the root module first, each before those that it calls
	Locks   *depsfile.Locks
	// Inherited are the entries of the lock file that the product's predecessor
	// wrote, and to which Locks has one of the product's own now.
	Inherited []depsfile.Lock
	Backend   string // the type of the backend that was recorded for the directory; "": none was, or it has none
	// StateUnknown reports whether a backend has the state, or it is encrypted, so that it couldn't
	// be read: the providers of the lock file are required in its place.
	StateUnknown bool
}

// Read reads a working directory, as far as it matters for what it requires. The
// Directory is never nil, and as complete as can be if there are errors. That the
// configuration is for other versions of the product is the only problem then: what is an
// error now may be fine for the version that it wants. A module that
// isn't installed is an error whose Extra is a [OutdatedModule].
func Read(ctx context.Context, dir string, opts Options) (*Directory, hcl.Diagnostics) {
	opts.Product = opts.Product.OrDefault()
	root, manifest, resolver, problems := open(ctx, dir, "", opts, modules.AsRecorded)
	tree, below := resolver.Resolve(ctx, root, manifest)
	problems = slices.Concat(problems, below, tree.CheckProviders())
	found := &Directory{Modules: modulesOf(tree, opts.Product)}
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

// readState reads the state, if that is in a file. hasBackend says that the root module has a backend block.
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
	if errors.Is(err, load.ErrStateEncrypted) {
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
