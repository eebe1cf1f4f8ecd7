package providerscmd

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache"
)

// urlsOptions are what the arguments of providers urls ask for.
type urlsOptions struct {
	packageOptions
	sizes bool
	json  bool
}

func (o *urlsOptions) flags() cli.Flags {
	return slices.Concat(
		cli.Flags{o.platformFlag()},
		o.sourceFlags("origin", `Take them from the providers' own registries, whatever the CLI configuration says about installation. The default is "config".`),
		cli.Flags{
			o.dirFlag("Work in this directory instead of the current one. May be given more than once, and be a pattern such as envs/*, of which the directories with a configuration count."),
			cli.Switch("sizes", &o.sizes, "Ask servers how large the packages are: for each, a request for its first byte."),
		},
		o.modules.Flags(),
		cli.Flags{
			cli.Switch("json", &o.json,
				"Print a JSON object, which is described below. URLs are whole in it, because it takes all of one to download: the query of a signed URL is a secret for as long as it holds, so keep the output to yourself. User and password are never in it, and without -json no query is."),
			cli.NoColor(),
		})
}

// runURLs tells where the packages are that directories need, for programs that
// fetch, scan or build with them.
func runURLs(m *cli.Meta, args []string) (int, error) {
	var opts urlsOptions
	operands, by, err := parsed(opts.flags(), args, m.Env)
	if err != nil {
		return 0, err
	}
	if len(operands) > 0 {
		return 0, cli.Misusedf("providers urls takes options only")
	}
	if opts.from == "" && opts.fsMirror+opts.netMirror == "" {
		opts.from = "config" // as init
	}
	opts.from = cmp.Or(opts.from, "origin")
	opts.checkSource(by)
	in := begin(m, opts.problems)
	var found result.Result
	if in.Log.Add() {
		found = locate(opts, in)
	}
	return in.end(found, cli.Output{JSON: opts.json, Data: true}), nil
}

// locate finds the packages. What has failed is in the report, too; nil: nothing was
// looked for.
func locate(opts urlsOptions, in *reader) result.Result {
	if !opts.connect(in) {
		return nil
	}
	dirs, ok := in.read(opts.packageOptions)
	if !ok {
		return nil
	}
	fetcher := providercache.Fetcher{Source: in.Source, Client: in.Archives, Product: in.Product, Now: in.Meta.Now}
	requests := make([]providercache.LockRequest, len(dirs))
	for i, d := range dirs {
		requests[i] = d.request(opts.packageOptions, nil)
		requests[i].Sizes = opts.sizes
	}
	results, _ := fetcher.Locate(in.Meta.Context, requests...) // each directory reports its own error
	var report []explain.LockedDir
	for i, found := range results {
		d := dirs[i]
		report = append(report, explain.LockedDir{Dir: d.Path, Named: opts.roots.Given(), Locked: d.lockedHashes, Result: found})
		if found.Err != nil {
			in.Log.Add(explain.LocateProblems(found.Err)...)
		}
	}
	return result.URLs(report)
}

// hashOptions are what the arguments of hash ask for.
type hashOptions struct{ json bool }

func (o *hashOptions) flags() cli.Flags {
	return cli.Flags{cli.Switch("json", &o.json, "Print a JSON array with an object for each: path, h1, zh, or error and code. There is no zh for a directory.")}
}

// refusedHash is what -json prints about arguments: an array, as it is about packages, with one object that is about none.
func refusedHash(err error) result.Result {
	return result.HashReport{{Err: &getproviders.Fault{Code: "invalid_option", Err: err}}}
}

// runHash prints the hashes that a lock file has for packages.
func runHash(m *cli.Meta, args []string) (int, error) {
	var o hashOptions
	paths, _, err := parsed(o.flags(), args, nil)
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, cli.Misusedf("hash needs the path of a package")
	}
	report, errs := par.Map(m.Context, runtime.GOMAXPROCS(0), paths, func(ctx context.Context, path string) (result.PackageHashes, error) {
		h1, zh, err := providercache.HashPackage(ctx, path)
		return result.PackageHashes{Path: path, H1: h1, ZH: zh}, err
	})
	var problems problem.List
	for i, err := range errs {
		if err != nil {
			report[i] = result.PackageHashes{Path: paths[i], Err: err}
			problems = append(problems, problem.Because(err, problem.CodedError("invalid_package", "Failed to hash a package", problem.Sentence(err))))
		}
	}
	return m.Finish(result.HashReport(report), problems, cli.Output{JSON: o.json, Data: true}), nil
}
