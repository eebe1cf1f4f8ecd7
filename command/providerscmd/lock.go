package providerscmd

import (
	"errors"
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/providercache"
)

// lockOptions are the parsed arguments of providers lock.
type lockOptions struct {
	packageOptions
	upgrades []string // of -upgrade, ADDRESS[@VERSION]
	hashes   string   // of -hashes, as it was given
	policy   providercache.HashPolicy
	check    bool
}

func (o *lockOptions) Flags() cli.Flags {
	o.hashes, o.from = "auto", "origin"
	hashes := cli.HashChoices("also those of registries, and of network mirrors that -net-mirror or the CLI configuration names;")
	return slices.Concat(
		cli.Flags{o.platformFlag()},
		o.sourceFlags("config", "Take them from where the CLI configuration says"),
		cli.Flags{
			{Name: "hashes", Sep: "=", Value: cli.String(&o.hashes), Variable: cli.HashesVariable, Meaning: "which hashes to trust for unread packages",
				Help: "Which hashes to trust for packages that aren't read", Choices: hashes, More: "Hashes computed before take precedence."},
			cli.Option("upgrade=ADDRESS[@VERSION]", cli.Strings(&o.upgrades),
				"Select this version of a provider, or the newest allowed one, and leave the entries of others as they are", "May be given more than once."),
			cli.Switch("check", &o.check,
				"Write nothing", "If a lock file lacks hashes for the platforms, list them and exit with 2. Only the package shows which platform an h1 is for, so packages that are new to this machine are read."),
		},
		o.roots.Flags("Work in this directory instead of the current one", "May be given more than once, and be a pattern such as envs/*, for directories with a configuration. A package that several need is read once."),
		o.modules.Flags(),
		cli.Flags{
			o.JSONFlag("Print the JSON object described below"),
			cli.Progress(&o.progress),
			cli.NoColor(),
			{Name: "enable-plugin-cache", Value: cli.AnyBool(), Note: cli.NoEffect}, // tfdeps fetches no archive twice anyway
		})
}

// Report writes or checks lock files.
func (o *lockOptions) Report() (*result.Result, error) {
	o.checkSource()
	o.mayBeEmpty = !o.check // Terraform has no -check
	var invalid problem.List
	o.policy, invalid = cli.ReadHashPolicy(o.hashes)
	ok := o.Choose(append(o.problems.All, invalid...)...)
	v := view.NewLock(o.Meta.ViewOptions(o.Product, o.Out.JSON, o.progress))
	o.Meta = o.Meta.Showing(v.Activity)
	o.Meta.Remembers = true
	if ok {
		o.lock(v)
	}
	if o.check && slices.ContainsFunc(o.Log.All, func(p *problem.Problem) bool { return explain.CodeOf(p) == "lock_file_outdated" }) {
		o.Out.Code, o.Out.Despite = cli.ExitDiffers, true
	}
	return v.Report(), nil
}

// lock finds out which hashes the lock files need, and writes or checks them.
func (o *lockOptions) lock(v *view.Lock) {
	only, upgrades, problems := o.providers()
	if !o.Log.Add(problems...) || !o.connect() {
		return
	}
	dirs, ok := o.read()
	if !ok || !o.Log.Add(checkRequired(dirs, only)...) {
		return
	}
	results := make([]providercache.LockResult, len(dirs))
	for _, group := range byPolicy(dirs) {
		rules := dirs[group[0]].rules
		fetcher := o.Fetcher(v.Observe)
		fetcher.HashPolicy, fetcher.Policy, fetcher.Choice = o.policy, rules.Against(nil, nil), rules.Versions()
		platforms := o.platforms
		if len(rules.Rules.LockPlatforms()) > 0 && len(platforms) == 0 {
			platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
		}
		platforms = rules.WithPlatforms(platforms)
		requests := make([]providercache.LockRequest, len(group))
		for i, at := range group {
			requests[i] = o.request(dirs[at], only)
			requests[i].Platforms, requests[i].Upgrade = platforms, upgrades
		}
		locked, _ := fetcher.Lock(o.Meta.Context, requests...) // each directory reports its own error
		for i, at := range group {
			results[at] = locked[i]
		}
	}
	o.Log.Add(v.End()...)
	for i, d := range dirs {
		refuseDowngrades(d, upgrades, &results[i])
		o.Log.Add(o.conclude(d, results[i], v)...)
	}
}

// byPolicy returns the indexes of directories, grouped by their rules, so that each package is fetched once for a group.
func byPolicy(dirs []directory) [][]int {
	groups := map[string][]int{}
	for i, d := range dirs {
		groups[d.rules.Files] = append(groups[d.rules.Files], i)
	}
	return slices.SortedFunc(maps.Values(groups), slices.Compare)
}

// refuseDowngrades makes the result for a directory an error if the policy refuses a chosen version
// because it is older than the locked one, or than one that this machine has used. A
// version that -upgrade names is only compared with the lock file.
func refuseDowngrades(d directory, upgrades map[getproviders.Provider]getproviders.Version, result *providercache.LockResult) {
	if result.Err != nil {
		return
	}
	var errs []error
	for _, lock := range result.Locks.All() {
		was, _ := d.Locks.Provider(lock.Provider)
		if lock.Version != was.Version {
			choice := sources.Choice{Provider: lock.Provider, Constraints: d.required.Constraints(lock.Provider), Dir: d.Path, Locked: was.Version}
			errs = append(errs, d.rules.CheckDowngrade(choice, lock.Version, upgrades[lock.Provider].IsZero()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		result.Err, result.Locks = err, nil
	}
}

// providers parses the addresses of providers, and the values of -upgrade
// with their versions.
func (o *lockOptions) providers() (only []getproviders.Provider, upgrades map[getproviders.Provider]getproviders.Version, problems problem.List) {
	for _, address := range o.Operands {
		p, err := o.Product.ParseProvider(address)
		if err != nil {
			problems = append(problems, addressProblem(err))
		}
		only = append(only, p)
	}
	upgrades = map[getproviders.Provider]getproviders.Version{}
	specs, invalid := parseSpecs(o.Product, "-upgrade=%s can't be used: %v.", o.upgrades, false)
	for _, spec := range specs {
		only, upgrades[spec.Provider] = append(only, spec.Provider), spec.Version
	}
	return only, upgrades, append(problems, invalid...)
}

// parseSpecs parses values of an option: ADDRESS, unless versioned, or ADDRESS@VERSION. unfit is the format of errors, for a value and the reason.
func parseSpecs(product getproviders.Product, unfit string, given []string, versioned bool) (all []getproviders.PackageSpec, problems problem.List) {
	for _, text := range given {
		spec, addressErr, err := workdir.ParseSpec(text, product)
		if err == nil && versioned && spec.Version.IsZero() {
			err = errors.New("the version is missing")
		}
		switch {
		case addressErr != nil:
			problems = append(problems, addressProblem(addressErr))
		case err != nil:
			problems = append(problems, problem.Errorf("version_not_found", "Invalid provider version", "The option "+unfit, text, err))
		default:
			all = append(all, spec)
		}
	}
	return all, problems
}

func addressProblem(err error) *problem.Problem {
	if summary, detail, ok := cause.Address(err); ok {
		return problem.Error("invalid_address", summary, detail)
	}
	return problem.Error("invalid_address", "Invalid provider argument", problem.Sentence(err))
}

// checkRequired checks that each of the given providers is required in one of
// the directories.
func checkRequired(dirs []directory, only []getproviders.Provider) (problems problem.List) {
	for _, p := range only {
		if !slices.ContainsFunc(dirs, func(d directory) bool { return d.requires(p) }) {
			problems = append(problems, problem.Errorf("invalid_address", "Invalid provider argument",
				"The provider %s is not required by the current configuration.", p))
		}
	}
	return problems
}

// conclude writes a directory's lock file, or with -check reports what it lacks.
func (o *lockOptions) conclude(d directory, result providercache.LockResult, v *view.Lock) problem.List {
	shown := explain.LockedDir{Dir: d.Path, Named: o.roots.Given(), Check: o.check, Result: result}
	switch {
	case result.Err != nil:
		v.Tell(shown)
		shown.Wanted = o.ExplainMissing(result.Err, o.wanted([]directory{d}))
		return o.LockProblems(shown)
	case o.check:
		return v.Tell(shown)
	}
	if err := result.Locks.Save(d.LockFile(), d.Product); err != nil {
		shown.Result.Err = err
		v.Tell(shown)
		return problem.Unsaved("lock_file", "Failed to update dependency lock file", err)
	}
	return v.Tell(shown)
}
