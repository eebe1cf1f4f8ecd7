package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
)

// ExitDiffers is the exit code of commands that answer a question: what they
// were asked about isn't as it should be. 0 means that it is, 1 that it is unknown.
const ExitDiffers = 2

// Command is a command of the program.
type Command struct {
	Name     string // its words: "providers lock"
	Synopsis string // what it is for, in a line
	Help     Help
	Report   bool // with -json it prints one object, a report, also about arguments that it doesn't take

	// Run carries the command out and returns the exit code. The error is about
	// arguments that it doesn't take: a *UsageError.
	Run func(m *Meta, args []string) (code int, err error)
}

// Execute runs the command, and returns the exit code. Arguments that the command
// doesn't take are reported as Terraform does it.
func (c Command) Execute(m *Meta, args []string) int {
	code, err := c.Run(m, args)
	if err == nil {
		return code
	}
	if usage, ok := err.(*UsageError); ok && usage.Help {
		fmt.Fprintln(m.Stderr, c.Help.Text())
	}
	fmt.Fprintln(m.Stderr, err)
	if blame := m.Blame(err); blame != "" {
		fmt.Fprintln(m.Stderr, blame)
	}
	if c.Report && WantsJSON(args) {
		refused := problem.List{problem.CodedError("invalid_option", "Failed to parse command-line flags", err.Error())}
		_ = view.NoResult{}.JSON(m.Stdout, view.Run{Begun: m.Begun, Ended: m.Now(), Problems: refused})
	}
	return 1
}

// UsageError is about arguments that a command doesn't take.
type UsageError struct {
	Text  string
	Help  bool  // to know the options would help
	Cause error // what is wrong with an option or a variable; nil: it is about none
}

func (e *UsageError) Error() string { return e.Text }

func (e *UsageError) Unwrap() error { return e.Cause }

// TellInterrupted tells on stderr, after the problems, what is kept of a command that has failed because it was interrupted.
func (m *Meta) TellInterrupted(problems problem.List) {
	if m.Activity != nil && problems.HasErrors() {
		m.Activity.Interrupted(m.Context, view.NewStream(m.Stderr))
	}
}

// Output is how a command ends.
type Output struct {
	// JSON prints the report for programs, which has the problems, too. They are shown to people even so.
	JSON bool
	Data bool // stdout is for programs without JSON, too, which are not to find warnings there
	Code int  // the exit code if there is no error
}

// Finish ends a command: it prints the report, shows all problems, and returns the exit code, which is 1
// after an error. The report is nil if the command has none, or found out nothing.
func (m *Meta) Finish(r view.Result, problems problem.List, out Output) int {
	if m.Activity != nil {
		m.Activity.Close()
	}
	all := slices.Concat(m.Warnings, problems)
	if r == nil {
		r = view.NoResult{}
	}
	err := error(nil)
	if out.JSON {
		err = r.JSON(m.Stdout, view.Run{Begun: m.Begun, Ended: m.Now(), Problems: all, ReadFile: os.ReadFile})
	} else {
		err = r.Text(m.Stdout)
	}
	if err != nil {
		all = append(all, problem.CodedError("unwritable", "Failed to write the report", problem.Sentence(err)))
	}
	how := m.ViewOptions(getproviders.Product{}, false)
	how.Data = out.JSON || out.Data
	code := End(func(all problem.List) { view.Problems(how, all) }, all, out.Code)
	m.TellInterrupted(problems)
	return code
}

// End shows problems in a command's own way, and returns the exit code, which is 1 after an error.
func End(show func(problem.List), problems problem.List, code int) int {
	show(problems)
	if problems.HasErrors() {
		return 1
	}
	return code
}
