package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
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
}

// parseInit reads the arguments of init. The options are usable for telling
// the problems.
func parseInit(args []string) (initOptions, view.Problems) {
	var opts initOptions
	var lockfile string
	flags := flag.NewFlagSet("init", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.BoolVar(&opts.upgrade, "upgrade", false, "")
	flags.BoolVar(&opts.json, "json", false, "")
	flags.BoolVar(&opts.backend, "backend", true, "")
	flags.BoolVar(&opts.backend, "cloud", true, "")
	flags.BoolVar(&opts.get, "get", true, "")
	flags.StringVar(&lockfile, "lockfile", "", "")
	flags.StringVar(&opts.mirrorFallback, "mirror-fallback", "", "")
	flags.Func("plugin-dir", "", opts.addPluginDir)
	acceptSilently(flags)
	refused := refuse(flags)
	if err := flags.Parse(args); err != nil {
		opts.json = wantsJSON(args)
		return opts, view.Problems{view.NewError("Failed to parse command-line flags", err.Error())}
	}
	if flags.NArg() > 0 {
		opts.json = wantsJSON(args)
		return opts, view.Problems{view.NewError("Too many command line arguments. Did you mean to use -chdir?",
			fmt.Sprintf("The init command takes options only, and was given %q.", flags.Arg(0)))}
	}
	return opts, opts.check(flags, lockfile, refused)
}

func (o *initOptions) addPluginDir(dir string) error {
	o.pluginDirGiven = true
	if dir != "" {
		o.pluginDirs = append(o.pluginDirs, dir)
	}
	return nil
}

// check finds options that contradict each other or that aren't for us.
func (o *initOptions) check(flags *flag.FlagSet, lockfile string, refused []*refusedFlag) (problems view.Problems) {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["backend"] && given["cloud"] {
		problems = append(problems, view.NewError("Invalid init options",
			"The -backend and -cloud options are aliases of one another and mutually-exclusive in their use"))
	}
	switch o.readonly = lockfile == "readonly"; {
	case !o.readonly && lockfile != "":
		problems = append(problems, view.NewError("Invalid lock file mode",
			fmt.Sprintf("The value of -lockfile is %q. The only mode there is to choose is \"readonly\".", lockfile)))
	case o.readonly && o.upgrade:
		problems = append(problems, view.NewError("The -upgrade flag conflicts with -lockfile=readonly.",
			"An upgrade has to record what it selects in the lock file. Leave out one of the two."))
	}
	for _, r := range refused {
		if r.asked {
			problems = append(problems, r.problem())
		}
	}
	return problems
}

// acceptSilently accepts what init is often given and what makes no
// difference to what we do: nobody is asked anything, no state is written,
// and variables have no say in which providers there are.
func acceptSilently(flags *flag.FlagSet) {
	for _, name := range []string{"input", "lock", "compact-warnings", "ignore-remote-version"} {
		flags.Bool(name, false, "")
	}
	for _, name := range []string{"var", "var-file", "target", "test-directory"} {
		flags.String(name, "", "")
	}
	flags.Duration("lock-timeout", time.Duration(0), "")
}

// refusedFlag is an option of the real tool that asks for something which
// this program doesn't do yet.
type refusedFlag struct {
	name   string
	isBool bool
	asked  bool
}

// refuse adds the options that are refused.
func refuse(flags *flag.FlagSet) []*refusedFlag {
	all := []*refusedFlag{
		{name: "backend-config"}, {name: "from-module"},
		{name: "force-copy", isBool: true}, {name: "migrate-state", isBool: true}, {name: "reconfigure", isBool: true},
	}
	for _, f := range all {
		flags.Var(f, f.name, "")
	}
	return all
}

// Set implements flag.Value. An option that is switched off, or empty, asks for nothing.
func (f *refusedFlag) Set(value string) error {
	switch {
	case !f.isBool:
		f.asked = f.asked || value != ""
	case value == "true", value == "false":
		f.asked = value == "true"
	default:
		return errors.New("parse error")
	}
	return nil
}

// String implements flag.Value.
func (f *refusedFlag) String() string { return "" }

// IsBoolFlag tells package flag that no value need follow.
func (f *refusedFlag) IsBoolFlag() bool { return f.isBool }

func (f *refusedFlag) problem() *view.Problem {
	return view.NewError("Option not supported yet", strings.ReplaceAll(
		"This version of tfdeps doesn't do what -OPTION asks for. Use \"terraform init -OPTION\" for it, or leave it out.",
		"OPTION", f.name))
}
