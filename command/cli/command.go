package cli

import (
	"fmt"
	"io"
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

// End ends a command for people: it shows all problems and returns the exit code,
// which is 1 after an error, else the one given. data says that stdout is for
// programs, which are not to find warnings there.
func (m *Meta) End(problems problem.List, data bool, code int) int {
	if m.Activity != nil {
		m.Activity.Close()
	}
	how := m.ViewOptions(getproviders.Product{}, false)
	how.Data = data
	code = End(func(all problem.List) { view.Problems(how, all) }, slices.Concat(m.Warnings, problems), code)
	m.TellInterrupted(problems)
	return code
}

// TellInterrupted tells on stderr, after the problems, what is kept of a command that has failed because it was interrupted.
func (m *Meta) TellInterrupted(problems problem.List) {
	if m.Activity != nil && problems.HasErrors() {
		m.Activity.Interrupted(m.Context, view.NewStream(m.Stderr))
	}
}

// End is [Meta.End] for commands that show problems in a way of their own.
func End(show func(problem.List), problems problem.List, code int) int {
	show(problems)
	if problems.HasErrors() {
		return 1
	}
	return code
}

// Report is the result of a command, for people and for programs.
type Report interface {
	Text(w io.Writer) error
	JSON(w io.Writer) error
}

// Print writes a report to stdout.
func (m *Meta) Print(r Report, asJSON bool) problem.List {
	write := r.Text
	if asJSON {
		write = r.JSON
	}
	if err := write(m.Stdout); err != nil {
		return problem.List{problem.Error("Failed to write the report", problem.Sentence(err))}
	}
	return nil
}
