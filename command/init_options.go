package command

import (
	"cmp"
	"flag"
	"fmt"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// initOptions is what the arguments of init ask for.
type initOptions struct {
	upgrade  bool
	readonly bool // -lockfile=readonly
	backend  bool // -backend, or -cloud
	get      bool // -get: whether modules are installed
	json     bool

	pluginDirs     []string // of -plugin-dir, those that aren't empty
	pluginDirGiven bool     // maybe with an empty value only
	mirrorFallback string   // of -mirror-fallback, as it was given
	fromModule     string   // the source of -from-module; "" if there is none
	stateFile      string   // of -state; "" if there is none
	lockModules    bool     // -lock-modules
	check          bool     // -check
	offline        bool     // -offline, or -frozen
	frozen         bool     // -frozen

	platforms    []getproviders.Platform // of -platform, for which the lock file has to be good, too
	allPlatforms bool                    // -platform=all
	hashes       providercache.HashPolicy

	progress view.Progress

	// For messages: who set options of ours, and readonly and offline, "" if
	// nobody did.
	by                    setBy
	readonlyBy, offlineBy string

	configurationOptions
	state backendOptions
	cache cacheOptions
}

// parseInit reads the arguments of init, and the variables of options that are
// not among them. The options are usable for telling the problems.
func parseInit(args []string, env Environment, standIn *StandIn) (initOptions, view.Problems) {
	var opts initOptions
	var lockfile string
	flags := newFlags("init")
	opts.define(flags, &lockfile)
	if err := flags.Parse(args); err != nil {
		opts.json = wantsJSON(args)
		return opts, view.Problems{view.NewError("Failed to parse command-line flags", err.Error())}
	}
	if flags.NArg() > 0 {
		opts.json = wantsJSON(args)
		return opts, view.Problems{view.NewError("Too many command line arguments. Did you mean to use -chdir?",
			fmt.Sprintf("The init command takes options only, and was given %q.", flags.Arg(0)))}
	}
	by, err := env.fill(flags)
	if err != nil {
		return opts, view.Problems{view.NewError("Invalid value of a variable", err.Error())}
	}
	opts.state.settle(standIn)
	opts.settle(lockfile, by)
	return opts, opts.contradictions(flags, lockfile)
}

// define adds the options. The value of -lockfile is settled with the others.
func (o *initOptions) define(flags *flag.FlagSet, lockfile *string) {
	flags.BoolVar(&o.upgrade, "upgrade", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.BoolVar(&o.backend, "backend", true, "")
	flags.BoolVar(&o.backend, "cloud", true, "")
	flags.BoolVar(&o.get, "get", true, "")
	flags.StringVar(lockfile, "lockfile", "", "")
	flags.StringVar(&o.mirrorFallback, "mirror-fallback", "", "")
	flags.StringVar(&o.fromModule, "from-module", "", "")
	flags.StringVar(&o.stateFile, "state", "", "")
	flags.BoolVar(&o.lockModules, "lock-modules", false, "")
	flags.Func("progress", "", o.setProgress)
	flags.BoolVar(&o.check, "check", false, "")
	flags.BoolVar(&o.offline, "offline", false, "")
	flags.BoolVar(&o.frozen, "frozen", false, "")
	flags.Func("plugin-dir", "", o.addPluginDir)
	flags.Func("platform", "", o.addPlatforms)
	flags.Func("hashes", "", o.setHashes)
	acceptSilently(flags)
	o.configurationOptions.define(flags)
	o.state.define(flags)
	o.cache.define(flags)
}

func (o *initOptions) addPluginDir(dir string) error {
	o.pluginDirGiven = true
	if dir != "" {
		o.pluginDirs = append(o.pluginDirs, dir)
	}
	return nil
}

// settle finds out what -lockfile and -frozen mean, and who said so.
func (o *initOptions) settle(lockfile string, by setBy) {
	o.by, o.cache.linkBy = by, by["link"]
	if o.offline {
		o.offlineBy = by["offline"]
	}
	if o.readonly = lockfile == "readonly"; o.readonly {
		o.readonlyBy = "-lockfile=readonly"
	}
	if !o.frozen {
		return
	}
	o.readonly, o.readonlyBy = true, cmp.Or(o.readonlyBy, by["frozen"])
	o.offline, o.offlineBy = true, cmp.Or(o.offlineBy, by["frozen"])
}

// contradictions finds options that contradict each other or that aren't for us.
func (o *initOptions) contradictions(flags *flag.FlagSet, lockfile string) (problems view.Problems) {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["backend"] && given["cloud"] {
		problems = append(problems, view.NewError("Invalid init options",
			"The -backend and -cloud options are aliases of one another and mutually-exclusive in their use"))
	}
	if lockfile != "" && lockfile != "readonly" {
		problems = append(problems, view.NewError("Invalid lock file mode",
			fmt.Sprintf("The value of -lockfile is %q. The only mode there is to choose is \"readonly\".", lockfile)))
	}
	problems = append(problems, o.checkRestrained()...)
	o.state.collect(flags)
	return append(problems, o.state.check(o.json)...)
}

// acceptSilently accepts what init is often given and what makes no
// difference to what we do: nobody is asked anything, and no state is written.
func acceptSilently(flags *flag.FlagSet) {
	for _, name := range []string{"input", "lock", "compact-warnings", "ignore-remote-version"} {
		flags.Bool(name, false, "")
	}
	flags.String("target", "", "")
	flags.Duration("lock-timeout", time.Duration(0), "")
}
