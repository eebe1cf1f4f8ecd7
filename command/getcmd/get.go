// Package getcmd is the command "get", which installs the modules of a
// configuration and does nothing else.
package getcmd

import (
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// Command returns the command "get".
func Command() cli.Command {
	return cli.Command{Name: "get", Synopsis: "Install or upgrade remote modules",
		Usage: "get [options]", Flags: new(options).flags,
		About: `  Finds the modules of the configuration, fetches remote ones, and records where
  they are. "$TFDEPS init" does so, too; this command does nothing else.

  A recorded module that matches its call stays as it is.`, Run: run, Lines: true,
		Examples: [][2]string{
			{"$TFDEPS get", "Fetch missing modules."},
			{"$TFDEPS get -update", "Fetch all modules again."},
		},
	}
}

// options are the parsed arguments of get.
type options struct {
	modules   workdir.Options
	update    bool
	json      bool
	jsonInto  string // a file that gets the output of -json, or ""
	offlineBy string // the option or variable that set it, or ""
	progress  view.Progress
}

func (o *options) flags() cli.Flags {
	return slices.Concat(cli.Flags{
		cli.Switch("update", &o.update, "Fetch all modules again, in the newest versions that their calls allow"),
		cli.Offline(&o.offlineBy, "Send no request", "A module that is neither installed nor in the module store is an error."),
	}, o.modules.Flags(), cli.Flags{
		cli.Switch("json", &o.json, "Print one JSON object per line, for programs, as init does"),
		cli.Text("json-into=FILE", &o.jsonInto, "Write what -json prints into this file, beside the output for people"),
		cli.Progress(&o.progress),
	}, cli.Showing())
}

func parse(args []string, env cli.Environment) (o options, err error) {
	_, err = o.flags().Alone(args, env)
	switch {
	case err != nil:
	case o.json && o.jsonInto != "":
		err = cli.Usagef("The -json and -json-into arguments are mutually exclusive.").About("-json", "-json-into")
	case o.update && o.offlineBy != "":
		err = cli.Usagef("-update fetches all modules again, and %s allows no requests. Leave out one of the two.", o.offlineBy).About("-update", o.offlineBy)
	}
	return o, err
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, err := parse(args, m.Env)
	if err != nil && cli.WantsJSON(args) {
		v := view.NewInit(m.ViewOptions(products.Unversioned(m), true, view.ProgressAuto))
		code := cli.End(v.Problems, problem.Fail("invalid_option", "Failed to parse command-line flags", "%v", err), 1)
		v.End(code)
		return code, nil
	}
	if err != nil {
		return 0, err
	}
	product, from, problems := products.ChooseWithOrigin(m, products.Options{})
	v, m, end, unwritable := m.NewInit(product, from.Because(m, product), opts.json, opts.jsonInto, opts.progress, false)
	defer end()
	if problems = append(problems, unwritable...); !problems.HasErrors() {
		s := sources.New(m, product, false)
		defer s.Close()
		get(s, opts, v)
		problems = append(problems, s.Log.All...)
	}
	if !opts.json && opts.jsonInto == "" {
		return m.Finish(nil, problems, cli.Output{}), nil
	}
	code := cli.End(v.Problems, slices.Concat(m.Warnings, problems), 0)
	v.End(code)
	return code, nil
}

// get finds and fetches the modules, and writes modules.json.
func get(s *sources.Session, opts options, v *view.Init) {
	if !s.Online(opts.offlineBy) {
		return
	}
	dir := workdir.Load(s.Meta, s.Product, ".", opts.modules)
	if dir.InputProblems.HasErrors() {
		s.Log.Add(dir.InputProblems...)
		return
	}
	installer := s.Modules()
	installer.Observe = v.ObserveModules
	if opts.update {
		installer.Mode = modules.Upgrade
	}
	problems := dir.FindModules(s.Meta.Context, installer)
	if dir.Tree != nil {
		v.ModulesEnd(len(dir.Tree.Modules) - 1) // without the root
	}
	if !s.Log.Add(problems...) {
		return
	}
	if products.Of(s.Product).Lenient {
		dir.WarnOfTreeProblems()
	}
	if dir.RootProblems.HasErrors() { // their cause may be an error in the root module
		dir.ProviderProblems = nil
	}
	s.Log.Add(products.ExplainVersion(s.Meta, s.Product, dir.Problems())...)
	dir.ProviderProblems = nil // they don't keep modules from being recorded
	if dir.Problems().HasErrors() || !s.Log.Add(dir.SaveModules()...) {
		return
	}
	// Terraform's get writes modules.json even without modules, unlike its
	// init.
	if err := dir.Tree.Manifest.Save(workdir.ModulesDir(s.Meta.Env)); err != nil {
		s.Log.Unsaved("module_record", "Failed to record the modules", err)
	}
}
