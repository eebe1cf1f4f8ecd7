package command

import (
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// ProvidersURLsCommand tells where the packages are that directories need, for
// programs that fetch, scan or build with them.
type ProvidersURLsCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *ProvidersURLsCommand) Synopsis() string {
	return "Show where the packages of required providers are"
}

// Run carries the command out and returns the exit code.
func (c *ProvidersURLsCommand) Run(args []string) int {
	opts, err := parseURLs(args)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	product, problems := c.Meta.productOf()
	options := c.Meta.viewOptions(product, false)
	run := &urlsRun{lockRun: lockRun{Meta: c.Meta, opts: opts.lockOptions, product: product, view: view.NewLock(options)}, opts: opts}
	defer run.removeTemporary()
	return carryOut(append(opts.problems, problems...), run.all, run.view.Problems)
}

// urlsRun is one run of providers urls. It reads directories as providers lock
// does.
type urlsRun struct {
	lockRun
	opts urlsOptions
}

// all does what the command is for, and returns what there is to say at the end.
func (r *urlsRun) all() (problems view.Problems) {
	for _, phase := range []func() view.Problems{r.connect, r.findDirs, r.readDirs} {
		if problems = append(problems, phase()...); problems.HasErrors() {
			return problems
		}
	}
	return append(problems, r.locate()...)
}

// lockedHashes are those that the lock file has for a version.
func (d *lockDir) lockedHashes(p getproviders.Provider, v getproviders.Version) []getproviders.Hash {
	if lock, ok := d.locks.Provider(p); ok && lock.Version == v {
		return lock.Hashes
	}
	return nil
}

// locate has the engine find the packages, and prints what it has found, what
// has failed included.
func (r *urlsRun) locate() (problems view.Problems) {
	installer := providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: r.source, Client: r.network.Archives, Product: r.product, Now: r.Now},
	}
	requests := make([]providercache.LockRequest, len(r.dirs))
	for i, d := range r.dirs {
		requests[i] = r.request(d)
	}
	var report view.URLsReport
	for i, result := range providercache.Locate(r.Context, installer.Fetcher, r.opts.sizes, requests...) {
		d := r.dirs[i]
		report.Dirs = append(report.Dirs, view.LocatedDir{
			Dir: d.dir, LockFile: depsfile.FileName, Named: len(r.opts.dirs) > 0, Locked: d.lockedHashes, Result: result,
		})
		if result.Err != nil {
			problems = append(problems, view.LocateProblems(result.Err)...)
		}
	}
	write := report.Text
	if r.opts.json {
		write = report.JSON
	}
	if err := write(r.Stdout); err != nil {
		problems = append(problems, view.NewError("Failed to write the report", sentence(err)))
	}
	return problems
}
