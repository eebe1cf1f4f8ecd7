package initcmd

import (
	"fmt"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// backendOptions are the options of init about the backend.
type backendOptions struct {
	initialize    bool     // -backend, or -cloud
	config        []string // the values of -backend-config, in the order given
	reconfigure   bool
	migrate       bool
	forceCopy     bool
	createDefault bool     // in a state store
	stateStores   bool     // -enable-pluggable-state-storage-experiment
	foreign       []string // given options that some products don't have
	with          string   // of -with: the program that initializes the backend, or ""

	// passed are further options for that program, as they were given.
	passed []string
}

// The headings of the help for these options.
const (
	noteNothing = "Accepted without effect, because they have nothing to change here"
	noteWith    = "The program that -with names moves the state. Without -with, these are an error if there may be state to move"
	notePassed  = "Passed to the program that -with names; without effect on tfdeps"
)

func (o *backendOptions) flags() cli.Flags {
	return cli.Flags{
		{Name: "backend", Sep: "=", Arg: "false", Literal: true, Value: cli.Bool(&o.initialize), Alias: "cloud",
			Help: "Leave the record of the backend as it is"},
		cli.Option("backend-config=", cli.Strings(&o.config),
			"A file with arguments for the backend, or one argument as NAME=VALUE", "May be given more than once; a single empty value means no arguments."),
		cli.Switch("reconfigure", &o.reconfigure, "Record the backend as it is configured now, whatever was recorded before", "State isn't moved."),
		cli.Text("with=PROGRAM", &o.with,
			"Run \"terraform init\" or \"tofu init\" for the backend when modules and providers are installed", "It says which providers the state needs, and can move state, with -migrate-state or -force-copy.").
			Or("TFDEPS_WITH", "which program initializes the backend"),
		{Name: "force-copy", Value: cli.Bool(&o.forceCopy), Note: noteWith},
		{Name: "migrate-state", Value: cli.Bool(&o.migrate), Note: noteWith},
		{Name: "create-default-workspace", Value: cli.Bool(&o.createDefault), Note: noteNothing},
		{Name: "enable-pluggable-state-storage-experiment", Value: cli.Bool(&o.stateStores), Note: noteNothing},
		{Name: "input", Value: cli.AnyBool(), Note: notePassed},
		{Name: "lock", Value: cli.AnyBool(), Note: notePassed},
		{Name: "lock-timeout", Value: cli.Duration(new(time.Duration)), Note: notePassed},
		{Name: "ignore-remote-version", Value: cli.AnyBool(), Note: notePassed},
		{Name: "compact-warnings", Value: cli.AnyBool(), Note: noteNothing},
		{Name: "target", Value: cli.String(new(string)), Note: noteNothing},
	}
}

// collect keeps the options for the program of -with.
func (o *backendOptions) collect(given cli.Given) {
	if o.with == "" {
		return
	}
	for _, name := range []string{"input", "lock", "lock-timeout", "ignore-remote-version", "reconfigure", "migrate-state", "force-copy", "json"} {
		if given.Has(name) {
			o.passed = append(o.passed, "-"+name+"="+given.Text(name))
		}
	}
}

// conflicts finds options that contradict each other.
func (o *backendOptions) conflicts(m *cli.Meta, json bool, log *problem.Log) {
	m.Refuse(log, o.with != "" && products.StandInFor(o.with) == nil, "Invalid program",
		fmt.Sprintf("The value of -with is %q. It can be \"terraform\" or \"tofu\".", o.with), "-with")
	m.Refuse(log, o.migrate && !json && o.reconfigure, "Invalid init options",
		"The -migrate-state and -reconfigure options are mutually-exclusive.", "-migrate-state", "-reconfigure")
	const noStores = "It is for state stores, which no released version of Terraform has."
	m.Refuse(log, o.stateStores, "Cannot use -enable-pluggable-state-storage-experiment flag without experiments enabled", noStores)
	m.Refuse(log, !o.createDefault, "Cannot use -create-default-workspace flag without experiments enabled", noStores)
}

// unknown finds options that the product doesn't have, and that tfdeps can't replace.
func (o *backendOptions) unknown(m *cli.Meta, json bool, product getproviders.Product) problem.List {
	var log problem.Log
	d := dialect.Of(product)
	m.Refuse(&log, o.migrate && json && !d.Understands("migrate_in_json"), "The -migrate-state and -json options are mutually-exclusive",
		"Moving state asks questions. Leave out one of the two.", "-migrate-state", "-json")
	for _, name := range o.foreign {
		m.Refuse(&log, !d.Understands(name), "Failed to parse command-line flags",
			"flag provided but not defined: -"+name+". Only Terraform has it"+foreign[name]+".", "-"+name)
	}
	return log.All
}

// foreign are options that only some versions of Terraform have, each with these versions.
var foreign = map[string]string{"create-default-workspace": ", before 1.16", "target": ""}

// unable returns an error if the program of -with isn't found. It is called before anything is downloaded.
func (o *backendOptions) unable(m *cli.Meta) problem.List {
	if !o.initialize || products.StandInFor(o.with) == nil {
		return nil
	}
	if _, err := products.Program(m, o.with, nil); err != nil {
		return problem.Failed("other_backend", "Can't initialize the backend", err)
	}
	return nil
}

// moves reports whether the options ask to move state, which only the real programs do. There
// may be no state to move.
func (o *backendOptions) moves() bool { return o.migrate || o.forceCopy }
