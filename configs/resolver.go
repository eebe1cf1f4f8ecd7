package configs

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

type (
	// Module is one module of a configuration. A directory with several calls is several modules.
	Module struct {
		Key              string // names of the calls from the root, joined by dots; "" is the root module
		Source, Version  string // normalised; Version only of modules from a registry; both "" for the root module
		Dir              string
		RequiredVersions []string // constraints on the product, in the order of files
		Calls            []ModuleCall
		Requirements     getproviders.Requirements // of this module alone
	}

	// ModuleCall is a module block.
	ModuleCall struct {
		Name, Source, Version string // as written or computed
		Range                 hcl.Range
	}

	// ModuleFetcher fetches the packages of modules. providercache/setup makes that of the program.
	ModuleFetcher = modules.Fetcher
	// FetchRequest is the parameter of a ModuleFetcher.
	FetchRequest = modules.FetchRequest
	// Fetched is the result of a ModuleFetcher.
	Fetched = modules.Fetched

	// OutdatedModule is the Extra of a problem about a module that isn't installed as its call requires.
	OutdatedModule = modules.Outdated
)

// ModuleEvent reports a step of one module's installation.
type ModuleEvent struct {
	Key     string // of the module
	Package string // the address from which it is about to be fetched, without secrets; "" once it is in its place
	Version string // of a module from a registry; else ""
	Dir     string // its directory, once it is in its place
}

// Resolver finds the modules that a configuration calls, fetches the missing ones, and records them for plan and apply. It is a
// plain struct: set the fields, and use it as often as you like, for one configuration at a time.
type Resolver struct {
	Upgrade bool // take the newest versions, ignoring recorded ones
	DryRun  bool // fetch and write nothing: of modules that aren't installed only the calls are known

	Fetcher ModuleFetcher // nil makes modules that must be fetched problems
	// Client, Discovery and Credentials are for module registries. Without a Client, modules of registries are problems
	// unless they are installed.
	Client      *http.Client
	Discovery   *getproviders.Discovery
	Credentials getproviders.Credentials
	Store       string // a private directory that caches answers of registries between runs; "" means none
	Offline     bool   // send no request to registries

	HomeDir string // replaces "~" in paths
	Observe func(ModuleEvent)
}

// Resolve installs the modules of the configuration in a directory, and returns all of them, the root module first, each
// before those that it calls. After errors the record of modules is unchanged.
func (r *Resolver) Resolve(ctx context.Context, dir string, opts Options) ([]Module, hcl.Diagnostics) {
	mode := modules.Normal
	if r.Upgrade {
		mode = modules.Upgrade
	}
	opts.Product = opts.Product.OrDefault()
	root, manifest, resolver, problems := open(ctx, dir, r.HomeDir, opts, mode)
	resolver.DryRun, resolver.Fetcher, resolver.Registries = r.DryRun, r.Fetcher, r.registries(opts.Product)
	if r.Observe != nil {
		resolver.Observe = r.observe
	}
	tree, below := resolver.Resolve(ctx, root, manifest)
	if problems = append(problems, below...); !problems.HasErrors() && !r.DryRun {
		if err := tree.Save(); err != nil {
			problems = append(problems, diagnostic.Placeless("Failed to write the record of modules", "%v.", err))
		}
	}
	return modulesOf(tree), problems
}

func (r *Resolver) registries(product getproviders.Product) *modules.Registries {
	if r.Client == nil {
		return nil
	}
	discovery := r.Discovery
	if discovery == nil {
		discovery = &getproviders.Discovery{Client: r.Client, Credentials: r.Credentials}
	}
	return &modules.Registries{Client: r.Client, Discovery: discovery, Credentials: r.Credentials, Product: product, Store: r.Store, Offline: r.Offline}
}

func (r *Resolver) observe(e modules.Event) {
	switch e := e.(type) {
	case modules.Downloading:
		r.Observe(ModuleEvent{Key: e.Key, Package: e.Package, Version: e.Version})
	case modules.Planned:
		r.observe(e.Downloading)
	case modules.Recorded:
		r.Observe(ModuleEvent{Key: e.Key, Version: e.Version, Dir: e.Dir})
	}
}

// open reads the root module and the record of modules, and returns the resolver for the other
// modules.
func open(ctx context.Context, dir, home string, opts Options, mode modules.Mode) (*load.Module, modules.Manifest, modules.Resolver, hcl.Diagnostics) {
	cwd := ""
	if opts.FS != nil {
		mode = modules.Normal
	} else if full, err := filepath.Abs(dir); err == nil {
		cwd = full
	} else {
		cwd = dir
	}
	inputs := load.InputSources{Environ: opts.Environ, FS: opts.FS, Product: opts.Product}
	for _, given := range opts.Variables {
		argument := load.InputArgument{Assignment: given}
		if file, isFile := strings.CutPrefix(given, "@"); isFile {
			argument = load.InputArgument{File: file}
		}
		inputs.Arguments = append(inputs.Arguments, argument)
	}
	values, invalid := load.ReadInputs(ctx, dir, inputs)
	root, problems := load.LoadModuleContext(ctx, dir, opts.Product,
		load.Options{FS: opts.FS, TestDirectory: opts.TestDirectory, Inputs: values, WorkingDir: cwd, HomeDir: home, Workspace: opts.Workspace})
	problems = slices.Concat(checkDirectory(opts.FS, dir), invalid, problems)
	modulesDir := filepath.Join(opts.dataDir(dir), "modules")
	manifest, err := modules.ReadManifest(opts.FS, modulesDir, opts.Product)
	if err != nil {
		problems = append(problems, diagnostic.Placeless("failed to read module manifest", "%v.", err))
	}
	return root, manifest, modules.Resolver{Dir: modulesDir, Product: opts.Product, Mode: mode}, problems
}

// checkDirectory returns an error if there is no such directory: a misspelt path would else require nothing.
func checkDirectory(fsys fs.FS, dir string) hcl.Diagnostics {
	var info fs.FileInfo
	var err error
	if fsys == nil {
		info, err = os.Stat(dir)
	} else {
		info, err = fs.Stat(fsys, path.Clean(dir))
	}

	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hcl.Diagnostics{diagnostic.Placeless("No such directory", "The directory %s doesn't exist.", dir)}
	case err == nil && !info.IsDir():
		return hcl.Diagnostics{diagnostic.Placeless("No such directory", "%s is not a directory.", dir)}
	default: // other errors come from reading it
		return nil
	}
}

// modulesOf converts the modules of a tree.
func modulesOf(tree *modules.Tree) (all []Module) {
	for _, m := range tree.Modules {
		module := Module{Key: m.Key, Source: m.Source, Version: m.Version, Dir: m.Dir}
		if m.Config != nil {
			module.Requirements, _ = m.Config.Requirements()
			for _, v := range m.Config.RequiredVersions {
				module.RequiredVersions = append(module.RequiredVersions, v.Text)
			}
			for _, c := range m.Config.Calls {
				module.Calls = append(module.Calls, ModuleCall{Name: c.Name, Source: c.Source, Version: c.Version, Range: c.Range})
			}
		}
		all = append(all, module)
	}
	return all
}
