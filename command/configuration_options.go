package command

import (
	"flag"
	"fmt"
	"io"

	"github.com/tfdeps/tfdeps/configs"
)

// configurationOptions are options that commands have which read a whole
// configuration.
type configurationOptions struct {
	testDirectory string
	inputs        []configs.InputArgument // -var and -var-file, in their order
}

// define adds the options.
func (o *configurationOptions) define(flags *flag.FlagSet) {
	flags.StringVar(&o.testDirectory, "test-directory", "", "")
	flags.Func("var", "", func(assignment string) error {
		o.inputs = append(o.inputs, configs.InputArgument{Assignment: assignment})
		return nil
	})
	flags.Func("var-file", "", func(file string) error {
		o.inputs = append(o.inputs, configs.InputArgument{File: file})
		return nil
	})
}

// newFlags makes a set of options that prints nothing itself.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	return flags
}

// usageError is about arguments that a command doesn't take.
type usageError struct {
	text string
	help bool // to know the options would help
}

func (e *usageError) Error() string { return e.text }

// parseOptions reads the arguments of a command that takes nothing but
// options. The errors are a *usageError.
func parseOptions(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return &usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}
	}
	if flags.NArg() > 0 {
		return &usageError{text: "Too many command line arguments. Did you mean to use -chdir?"}
	}
	return nil
}

// misused tells of arguments that can't be used, as the real tool does, and
// returns the exit code.
func (m *Meta) misused(err error, help string) int {
	if usage, ok := err.(*usageError); ok && usage.help {
		fmt.Fprintln(m.Stderr, help)
	}
	fmt.Fprintln(m.Stderr, err)
	return 1
}
