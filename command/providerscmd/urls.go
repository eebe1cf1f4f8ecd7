package providerscmd

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache"
)

// urlsOptions are the parsed arguments of providers urls.
type urlsOptions struct {
	packageOptions
	sizes bool
}

func (o *urlsOptions) Flags() cli.Flags {
	return slices.Concat(
		cli.Flags{o.platformFlag()},
		o.sourceFlags("origin", `Take them from the providers' own registries, whatever the CLI configuration says about installation`, `The default is "config".`),
		cli.Flags{
			o.dirFlag("Work in this directory instead of the current one", "May be given more than once, and be a pattern such as envs/*, for directories with a configuration."),
			cli.Switch("sizes", &o.sizes, "Ask servers how large the packages are, by requests for their first bytes"),
		},
		o.modules.Flags(),
		cli.Flags{
			o.JSONFlag(
				"Print the JSON object described below", "Its URLs are complete, because a download needs all of one: the query of a signed URL is a secret while it is valid, so keep the output to yourself. User and password are never in it, and without -json no query is."),
			cli.NoColor(),
		})
}

// Report returns the locations of the packages that directories need, for programs that
// fetch, scan or build with them. The report includes failures.
func (o *urlsOptions) Report() (*result.Result, error) {
	if len(o.Operands) > 0 {
		return nil, cli.Misusedf("providers urls takes options only")
	}
	if o.from == "" && o.fsMirror+o.netMirror == "" {
		o.from = "config" // as for init
	}
	o.from, o.Out.Data = cmp.Or(o.from, "origin"), true
	o.many = "-dir for some of them"
	if o.checkSource(); !o.Choose(o.problems.All...) || !o.connect() {
		return nil, nil
	}
	dirs, ok := o.read()
	if !ok {
		return nil, nil
	}
	fetcher := providercache.Fetcher{Source: o.Source, Client: o.Archives, Product: o.Product, Now: o.Meta.Now}
	requests := make([]providercache.LockRequest, len(dirs))
	for i, d := range dirs {
		requests[i] = o.request(d, nil)
		requests[i].Sizes = o.sizes
	}
	results, _ := fetcher.Locate(o.Meta.Context, requests...) // each directory reports its own error
	var report []explain.LockedDir
	for i, found := range results {
		d := dirs[i]
		report = append(report, explain.LockedDir{Dir: d.Path, Named: o.roots.Given(), Locked: d.lockedHashes, Result: found})
		if found.Err != nil {
			o.Log.Add(o.LocateProblems(found.Err)...)
		}
	}
	return result.URLs(report), nil
}

// hashOptions are the parsed arguments of hash.
type hashOptions struct{ sources.Reporter }

func (o *hashOptions) Flags() cli.Flags {
	return cli.Flags{o.JSONFlag("Print a JSON array with an object for each: path, h1, zh, or error and code", "There is no zh for a directory.")}
}

// refusedHash is the report of -json about invalid arguments: an array with one object, without a path.
func refusedHash(err error) *result.Result {
	return result.Hashes([]result.PackageHashes{{Err: &getproviders.Fault{Code: "invalid_option", Err: err}}})
}

// Report prints the hashes that a lock file has for packages.
func (o *hashOptions) Report() (*result.Result, error) {
	if o.Out.Data = true; len(o.Operands) == 0 {
		return nil, cli.Misusedf("hash needs the path of a package")
	}
	report, errs := par.Map(o.Meta.Context, runtime.GOMAXPROCS(0), o.Operands, func(ctx context.Context, path string) (result.PackageHashes, error) {
		h1, zh, err := providercache.HashPackage(ctx, path)
		return result.PackageHashes{Path: path, H1: h1, ZH: zh}, err
	})
	for i, err := range errs {
		if err != nil {
			report[i] = result.PackageHashes{Path: o.Operands[i], Err: err}
			o.Log.Add(problem.Because(err, problem.Error("invalid_package", "Failed to hash a package", problem.Sentence(err))))
		}
	}
	return result.Hashes(report), nil
}
