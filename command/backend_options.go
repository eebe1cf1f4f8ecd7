package command

import (
	"flag"
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
)

// backendOptions is what the arguments of init ask of the backend.
type backendOptions struct {
	config      []string // of -backend-config, in the order given
	reconfigure bool
	migrate     bool
	forceCopy   bool
	with        string // of -with: the program that is in charge; "": we are

	// passed are other options as they were given: they mean nothing to us, and
	// something to that program.
	passed []string
}

func (o *backendOptions) define(flags *flag.FlagSet) {
	flags.Func("backend-config", "", func(given string) error {
		o.config = append(o.config, given)
		return nil
	})
	flags.BoolVar(&o.reconfigure, "reconfigure", false, "")
	flags.BoolVar(&o.migrate, "migrate-state", false, "")
	flags.BoolVar(&o.forceCopy, "force-copy", false, "")
	flags.StringVar(&o.with, "with", "", "")
}

// settle leaves the moving of state to the program in whose place we are:
// whoever asks for it there means that program.
func (o *backendOptions) settle(standIn *StandIn) {
	if standIn != nil && o.with == "" && (o.migrate || o.forceCopy) {
		o.with = standIn.Name
	}
}

// collect keeps the options that are for the program which is in charge.
func (o *backendOptions) collect(flags *flag.FlagSet) {
	if o.with == "" {
		return
	}
	for _, name := range []string{"input", "lock", "lock-timeout", "ignore-remote-version", "reconfigure", "migrate-state", "force-copy", "json"} {
		flags.Visit(func(f *flag.Flag) {
			if f.Name == name {
				o.passed = append(o.passed, "-"+name+"="+f.Value.String())
			}
		})
	}
	for _, given := range o.config {
		o.passed = append(o.passed, "-backend-config="+given)
	}
}

// check finds options that contradict each other. State is moved by the real
// tool only.
func (o *backendOptions) check(json bool) (problems view.Problems) {
	if o.with != "" && standInFor(o.with) == nil {
		problems = append(problems, view.NewError("Invalid program",
			fmt.Sprintf("The value of -with is %q. It can be \"terraform\" or \"tofu\".", o.with)))
	}
	switch moves := o.migrate || o.forceCopy; {
	case moves && json:
		problems = append(problems, view.NewError("The -migrate-state and -json options are mutually-exclusive",
			"Moving state asks questions. Leave out one of the two."))
	case moves && o.reconfigure:
		problems = append(problems, view.NewError("Invalid init options",
			"The -migrate-state and -reconfigure options are mutually-exclusive."))
	case moves && o.with == "":
		problems = append(problems, view.NewError("State is moved by Terraform", "To install with tfdeps and have state moved, "+
			"run \"tfdeps init -migrate-state -with=terraform\"; or run:\n  terraform"+migration))
	}
	return problems
}

// migration is the command of a product's program that moves state.
const migration = " init -migrate-state -get=false"
