package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// ExitDiffers is the exit code of checks that found a difference. 0 means that they found none, 1 that
// the check failed.
const ExitDiffers = 2

// Command is a command of the program.
type Command struct {
	Name     string // such as "providers lock"
	Synopsis string // its purpose, in one line
	Usage    string // how to call it, in lines: "cache add [options] ADDRESS..."
	About    string // its description, in lines as they are printed
	Details  string // what the whole help says behind that
	Flags    func() Flags
	Daily    []string    // the options in the short help; nil if the short help is the whole help
	More     string      // text below the options, in lines as they are printed
	Examples [][2]string // each a line as it is typed, and a sentence about its purpose

	Lines bool // -json doesn't print one report at the end, so that invalid arguments print none either

	// Refused returns the report about invalid arguments; nil means the default one.
	Refused func(err error) *result.Result

	// Run runs the command and returns the exit code. The error is about
	// invalid arguments: a *UsageError.
	Run func(m *Meta, args []string) (code int, err error)
}

// Execute runs the command, and returns the exit code. It reports invalid arguments
// as Terraform does.
func (c Command) Execute(m *Meta, args []string) int {
	code, err := c.Run(m, args)
	if err == nil {
		return code
	}
	usage, ok := err.(*UsageError)
	if !ok {
		usage = &UsageError{}
	}
	if usage.Summary != "" {
		m.NoColor = m.NoColor || slices.Contains(args, "-no-color") // the options weren't read because of the error
		view.Problems(m.ViewOptions(getproviders.Product{}, false, view.ProgressAuto),
			problem.Fail("invalid_option", usage.Summary, "%v%s%s", err, c.more(usage, m.Called()), m.Blame("\n\n", usage.Options...)))
	} else {
		fmt.Fprintf(m.Stderr, "%v%s\n", err, m.Blame("\n", usage.Options...))
	}
	if usage.Help {
		fmt.Fprintf(m.Stderr, "\n%s\nTo see more, run:\n  %s %s -help\n", c.usage(m.Called()), m.Called(), c.Name)
	}
	if !c.Lines && WantsJSON(args) {
		refused := problem.Fail("invalid_option", badFlags, "%v", err)
		report := new(result.Result)
		if c.Refused != nil {
			report = c.Refused(err)
		}
		_ = m.Write(report, true, refused)
	}
	return 1
}

// more returns further text for an unexpected operand, and for an unknown option without a similar
// one. Commands that Terraform has, too, only print its text.
func (c Command) more(usage *UsageError, called string) string {
	switch {
	case slices.Contains([]string{"init", "get", "providers", "providers lock", "providers mirror"}, c.Name):
	case usage.operand != "":
		return fmt.Sprintf("\n\nThe command %s takes options only, and was given %q.", c.Name, usage.operand)
	case usage.strange:
		return fmt.Sprintf("\n\nTo see the options, run:\n  %s %s -help", called, c.Name)
	}
	return ""
}

// UsageError is an error about invalid arguments.
type UsageError struct {
	Text    string
	Summary string   // Terraform's summary above the text, in a box; "" means the text alone
	Help    bool     // the usage is printed, too
	Cause   error    // the error of an option or a variable, or nil
	Options []string // the options that the error is about, such as "-json"

	operand string // the unexpected operand of a command without operands, or ""
	strange bool   // it is about an unknown option without a similar one
}

// Usagef makes an error about arguments; its Cause is the error that the format wraps.
func Usagef(format string, args ...any) *UsageError {
	err := fmt.Errorf("Error: "+format, args...)
	return &UsageError{Text: err.Error(), Cause: errors.Unwrap(err)}
}

// Misusedf is Usagef with the usage of the command.
func Misusedf(format string, args ...any) *UsageError {
	e := Usagef(format, args...)
	e.Help = true
	return e
}

// About sets the Options of the error, and returns it.
func (e *UsageError) About(options ...string) *UsageError {
	e.Options = options
	return e
}

// badFlags is the summary of errors about options that can't be parsed.
const badFlags = "Failed to parse command-line flags"

// TooMany is the error for an operand of a command without operands.
func TooMany(operand string) *UsageError {
	return &UsageError{Summary: "Too many command line arguments", Text: "Expected no positional arguments. Did you mean to use -chdir?", operand: operand}
}

func (e *UsageError) Error() string { return e.Text }

func (e *UsageError) Unwrap() error { return e.Cause }

// TellInterrupted prints on stderr, after the problems, what is kept of a command that was interrupted.
func (m *Meta) TellInterrupted(problems problem.List) {
	if m.Activity != nil && problems.HasErrors() {
		m.Activity.Interrupted(m.Context, terminal.NewStream(m.Stderr))
	}
}

// Output says how a command ends.
type Output struct {
	// JSON prints the report for programs, which includes the problems. These are also printed for people.
	JSON bool
	Data bool // stdout has data for programs even without -json, so that warnings go to stderr
	Code int  // the exit code if there is no error

	Despite bool // the exit code is Code even after errors
}

// Finish ends a command: it prints the report and all problems, and returns the exit code, which is 1
// after an error. The report may be nil.
func (m *Meta) Finish(r *result.Result, problems problem.List, out Output) int {
	if m.Activity != nil {
		m.Activity.Close()
	}
	all := slices.Concat(m.Warnings, problems)
	if r == nil {
		r = new(result.Result)
	}
	all = append(all, m.Write(r, out.JSON, all)...)
	how := m.ViewOptions(getproviders.Product{}, false, view.ProgressAuto)
	how.Data = out.JSON || out.Data
	view.Problems(how, all)
	m.TellInterrupted(problems)
	if all.HasErrors() && !out.Despite {
		return 1
	}
	return out.Code
}

// Write prints a report; for programs it includes the problems.
func (m *Meta) Write(r *result.Result, asJSON bool, problems problem.List) problem.List {
	run := result.Run{Begun: m.Begun, Ended: m.Now(), Problems: problems, Showing: m.lines()}
	if err := result.Write(m.Stdout, r, asJSON, run); err != nil {
		return problem.Failed("unwritable", "Failed to write the report", err)
	}
	return nil
}

// End shows problems by the given function, and returns code, or 1 after an error.
func End(show func(problem.List), problems problem.List, code int) int {
	show(problems)
	if problems.HasErrors() {
		return 1
	}
	return code
}

// NewInit returns the view of a run of init or get, which has printed the product's version and the reason for it, and a Meta with the view's activity.
// several says that the run works in several directories. into is the file of -json-into, or "": NewInit creates or truncates it, and end closes it.
func (m *Meta) NewInit(product getproviders.Product, because string, json bool, into string, progress view.Progress, several bool) (shown *view.Init, showing *Meta, end func(), problems problem.List) {
	how := m.ViewOptions(product, json, progress)
	how.Several = several
	var file *os.File
	if into != "" {
		var err error
		if file, err = wholefile.Open(m.Context, into, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
			problems = problem.Fail("invalid_option", "Invalid argument", "Unable to open the file %q specified by -json-into for writing: %v", into, err)
		} else {
			how.JSONInto = file
		}
	}
	shown = view.NewInit(how)
	shown.Version(m.Version, because)
	return shown, m.Showing(shown.Activity), func() { _ = file.Close() }, problems
}
