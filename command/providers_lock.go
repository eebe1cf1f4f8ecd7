package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// ProvidersLockCommand makes lock files good for other platforms.
type ProvidersLockCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *ProvidersLockCommand) Synopsis() string {
	return "Write out dependency locks for the configured providers"
}

// Run carries the command out and returns the exit code.
func (c *ProvidersLockCommand) Run(args []string) int {
	opts, err := parseLock(args, c.Meta.Env)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	product, problems := c.Meta.productOf()
	run := &lockRun{Meta: c.Meta, opts: opts, product: product, view: view.NewLock(c.Meta.viewOptions(product, opts.json))}
	defer run.removeTemporary()
	return carryOut(append(opts.problems, problems...), run.all, run.view.Problems)
}

// lockRun is one run of providers lock.
type lockRun struct {
	*Meta
	opts      lockOptions
	product   getproviders.Product
	view      *view.Lock
	cli       *cliconfig.Config
	network   network
	source    getproviders.Source
	temporary string // for modules that have to be fetched to be read; "": none yet

	only     []getproviders.Provider
	upgrades map[getproviders.Provider]getproviders.Version
	dirs     []*lockDir
}

// all does what the command is for, and returns what there is to say at the end.
func (r *lockRun) all() (problems view.Problems) {
	for _, phase := range []func() view.Problems{
		r.readArguments, r.connect, r.findDirs, r.readDirs, r.checkAddresses,
	} {
		if problems = append(problems, phase()...); problems.HasErrors() {
			return problems
		}
	}
	return append(problems, r.lock()...)
}

func (r *lockRun) readArguments() (problems view.Problems) {
	r.only, r.upgrades, problems = r.opts.providers(r.product)
	return problems
}

// connect makes the source of packages: the registries, unless something else is
// asked for.
func (r *lockRun) connect() (problems view.Problems) {
	if r.cli, r.network, problems = r.online(r.product, ""); problems.HasErrors() {
		return problems
	}
	var err error
	o := sourceOptions{network: r.network, cli: r.cli, product: r.product}
	switch {
	case r.opts.fsMirror != "":
		r.source = o.options().FilesystemMirror(r.opts.fsMirror)
	case r.opts.netMirror != "":
		r.source, err = o.options().NetworkMirror(r.opts.netMirror)
	case r.opts.fromConfig:
		r.source, err = r.sources(o)
	default:
		r.source = o.options().Registry()
	}
	if err != nil {
		problems = append(problems, view.NewError("Can't search for providers", sentence(err)))
	}
	return problems
}

// checkAddresses makes sure that every provider that is named is required
// somewhere.
func (r *lockRun) checkAddresses() (problems view.Problems) {
	for _, p := range r.only {
		requires := func(d *lockDir) bool { return d.requires(p) }
		if !slices.ContainsFunc(r.dirs, requires) {
			problems = append(problems, view.NewError("Invalid provider argument",
				fmt.Sprintf("The provider %s is not required by the current configuration.", p)))
		}
	}
	return problems
}

// lock has the engine find out what the lock files should hold, and writes or
// checks them.
func (r *lockRun) lock() (problems view.Problems) {
	installer := providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: r.source, Client: r.network.Archives, Product: r.product, Observe: providercache.Observer(r.view.Observe), Now: r.Now, StateDir: r.StateDir, HashPolicy: r.opts.policy},
	}
	requests := make([]providercache.LockRequest, len(r.dirs))
	for i, d := range r.dirs {
		requests[i] = r.request(d)
	}
	results := providercache.Lock(r.Context, installer.Fetcher, requests...)
	problems = r.view.End()
	for i, d := range r.dirs {
		problems = append(problems, r.conclude(d, results[i])...)
	}
	if r.opts.json {
		if err := r.view.Report(r.Stdout); err != nil {
			problems = append(problems, view.NewError("Failed to write the report", sentence(err)))
		}
	}
	return problems
}

// request says what a directory needs.
func (r *lockRun) request(d *lockDir) providercache.LockRequest {
	request := providercache.LockRequest{
		Requirements: d.required, Locks: d.locks,
		Platforms: r.opts.platforms, AllPlatforms: r.opts.allPlatforms, Upgrade: r.upgrades,
	}
	if len(r.only) > 0 {
		request.Only = []getproviders.Provider{}
		for _, p := range r.only {
			if d.requires(p) && !slices.Contains(request.Only, p) {
				request.Only = append(request.Only, p)
			}
		}
	}
	return request
}

// conclude writes a directory's lock file, or says what it lacks.
func (r *lockRun) conclude(d *lockDir, result providercache.LockResult) view.Problems {
	told := view.LockedDir{
		Dir: d.dir, LockFile: depsfile.FileName, Named: len(r.opts.dirs) > 0, Check: r.opts.check, Result: result,
	}
	if result.Err != nil {
		r.view.Tell(told)
		return view.LockProblems(r.product, told)
	}
	if r.opts.check {
		return r.view.Tell(told)
	}
	if err := result.Locks.Save(filepath.Join(d.dir, depsfile.FileName), r.product); err != nil {
		told.Result.Err = err
		r.view.Tell(told)
		return view.Problems{view.NewError("Failed to update dependency lock file", sentence(err))}
	}
	return r.view.Tell(told)
}

// removeTemporary ends a run.
func (r *lockRun) removeTemporary() {
	if r.temporary != "" {
		_ = os.RemoveAll(r.temporary)
	}
}
