package providerscmd

import (
	"cmp"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
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
			{Name: "sizes", Value: cli.Bool(&o.sizes),
				Help: "Ask servers how large the packages are: for each, a request for its first byte."},
		},
		o.modules.Flags(),
		cli.Flags{
			{Name: "json", Value: cli.Bool(&o.json),
				Help: "Print a JSON object, which is described below. URLs are whole in it, because it takes all of one to download: the query of a signed URL is a secret for as long as it holds, so keep the output to yourself. User and password are never in it, and without -json no query is."},
			cli.NoColor(),
		})
}

// parseURLs reads the arguments of providers urls. What is wrong with values is in
// the options' problems.
func parseURLs(args []string, env cli.Environment) (o urlsOptions, err error) {
	operands, by, err := parsed(o.flags(), args, env)
	if err != nil {
		return o, err
	}
	if len(operands) > 0 {
		return o, &cli.UsageError{Text: "Error: providers urls takes options only", Help: true}
	}
	if o.from == "" && o.fsMirror+o.netMirror == "" {
		o.from = "config" // as init
	}
	o.from = cmp.Or(o.from, "origin")
	o.checkSource(by)
	return o, nil
}

// runURLs tells where the packages are that directories need, for programs that
// fetch, scan or build with them.
func runURLs(m *cli.Meta, args []string) (int, error) {
	opts, err := parseURLs(args, m.Env)
	if err != nil {
		return 0, err
	}
	product, problems := products.Choose(m, products.Options{})
	in := reader{meta: m, product: product}
	var found result.Result
	report := func() result.Result { return found }
	return in.run(append(opts.problems, problems...), cli.Output{JSON: opts.json, Data: true}, report, func() { found = locate(opts, &in) }), nil
}

// locate finds the packages. What has failed is in the report, too; nil: nothing was
// looked for.
func locate(opts urlsOptions, in *reader) result.Result {
	source, ok := opts.connect(in)
	if !ok {
		return nil
	}
	dirs, ok := in.read(opts.packageOptions)
	if !ok {
		return nil
	}
	fetcher := fetcher.Fetcher{Source: source, Client: in.net.Archives, Product: in.product, Now: in.meta.Now}
	requests := make([]lockhashes.Request, len(dirs))
	for i, d := range dirs {
		requests[i] = d.request(opts.packageOptions, nil)
	}
	results, _ := lockhashes.Locate(in.meta.Context, &fetcher, lockhashes.LocateOptions{Sizes: opts.sizes}, requests...) // each directory reports its own error
	var report result.URLsReport
	for i, found := range results {
		d := dirs[i]
		report.Dirs = append(report.Dirs, result.LocatedDir{
			Dir: d.Path, LockFile: depsfile.FileName, Named: len(opts.dirs) > 0, Locked: d.lockedHashes, Result: found,
		})
		if found.Err != nil {
			in.log.Add(explain.LocateProblems(found.Err)...)
		}
	}
	return report
}
