package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// ExitDiffers is the exit code of commands that answer a question: what they
// were asked about isn't as it should be. 0 means that it is, 1 that it is unknown.
const ExitDiffers = 2

// Command is a command of the program.
type Command struct {
	Name     string // its words: "providers lock"
	Synopsis string // what it is for, in a line
	Usage    string // how it is called, in lines: "cache add [options] ADDRESS..."
	About    string // what it does, in lines as they are printed
	Flags    func() Flags
	Daily    []string // the options that the short help has; nil: it is the whole help
	More     string   // text below the options, in lines as they are printed

	Lines bool // -json prints something else than one report, so that wrong arguments have no report either

	// Refused is the report about arguments that the command doesn't take, if it is another than that of all commands.
	Refused func(err error) *result.Result

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
	usage, ok := err.(*UsageError)
	blame := m.Blame(err)
	switch {
	case ok && usage.Summary != "":
		detail := strings.TrimSuffix(err.Error()+c.more(usage)+"\n\n"+blame, "\n\n")
		m.NoColor = m.NoColor || slices.Contains(args, "-no-color") // which wasn't read for what is wrong
		view.Problems(m.ViewOptions(getproviders.Product{}, false, view.ProgressAuto), problem.Fail("invalid_option", usage.Summary, "%s", detail))
	case blame != "":
		fmt.Fprintf(m.Stderr, "%v\n%s\n", err, blame)
	default:
		fmt.Fprintln(m.Stderr, err)
	}
	if ok && usage.Help {
		fmt.Fprintf(m.Stderr, "\n%s\nTo see more, run:\n  tfdeps help %s\n", c.usage(), c.Name)
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

// more is said of an operand of a command that takes none, and of an option that the command doesn't have, where no other is
// like it. Commands that Terraform has, too, say what it says, and no more.
func (c Command) more(usage *UsageError) string {
	switch {
	case slices.Contains([]string{"init", "get", "providers", "providers lock", "providers mirror"}, c.Name):
	case usage.operand != "":
		return fmt.Sprintf("\n\nThe command %s takes options only, and was given %q.", c.Name, usage.operand)
	case usage.strange:
		return "\n\nTo see the options, run:\n  tfdeps help " + c.Name
	}
	return ""
}

// UsageError is about arguments that a command doesn't take.
type UsageError struct {
	Text    string
	Summary string // what Terraform has above it, in a frame; "": the text stands alone
	Help    bool   // the usage is shown, too
	Cause   error  // what is wrong with an option or a variable; nil: it is about none

	operand string // of a command that takes none; "": the error is about something else
	strange bool   // it is about an option that the command doesn't have, nor one like it
}

// Usagef makes an error about arguments, whose cause is the one that the format wraps.
func Usagef(format string, args ...any) *UsageError {
	err := fmt.Errorf("Error: "+format, args...)
	return &UsageError{Text: err.Error(), Cause: errors.Unwrap(err)}
}

// Misusedf is Usagef where it would help to know how the command is called.
func Misusedf(format string, args ...any) *UsageError {
	e := Usagef(format, args...)
	e.Help = true
	return e
}

// badFlags is the summary of errors about options that can't be parsed.
const badFlags = "Failed to parse command-line flags"

// TooMany is about an operand of a command that takes none.
func TooMany(operand string) *UsageError {
	return &UsageError{Summary: "Too many command line arguments", Text: "Expected no positional arguments. Did you mean to use -chdir?", operand: operand}
}

func (e *UsageError) Error() string { return e.Text }

func (e *UsageError) Unwrap() error { return e.Cause }

// TellInterrupted tells on stderr, after the problems, what is kept of a command that has failed because it was interrupted.
func (m *Meta) TellInterrupted(problems problem.List) {
	if m.Activity != nil && problems.HasErrors() {
		m.Activity.Interrupted(m.Context, terminal.NewStream(m.Stderr))
	}
}

// Output is how a command ends.
type Output struct {
	// JSON prints the report for programs, which has the problems, too. They are shown to people even so.
	JSON bool
	Data bool // programs read stdout even without -json, so that warnings go to stderr
	Code int  // the exit code if there is no error

	Despite bool // the exit code is Code even after errors
}

// Finish ends a command: it prints the report, shows all problems, and returns the exit code, which is 1
// after an error. The report is nil if the command has none, or found out nothing.
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
	code := End(func(all problem.List) { view.Problems(how, all) }, all, out.Code)
	m.TellInterrupted(problems)
	if out.Despite {
		return out.Code
	}
	return code
}

// Write prints a report, for programs with the problems.
func (m *Meta) Write(r *result.Result, asJSON bool, problems problem.List) problem.List {
	run := result.Run{Begun: m.Begun, Ended: m.Now(), Problems: problems, Showing: explain.Showing{ReadFile: os.ReadFile, Called: m.Called()}}
	if err := result.Write(m.Stdout, r, asJSON, run); err != nil {
		return problem.Failed("unwritable", "Failed to write the report", err)
	}
	return nil
}

// End shows problems in a command's own way, and returns the exit code, which is 1 after an error.
func End(show func(problem.List), problems problem.List, code int) int {
	show(problems)
	if problems.HasErrors() {
		return 1
	}
	return code
}

// NewInit returns the view of a run of init or get, which has told the product's version and the reason for it, and a Meta whose activity it shows.
// several: the run is about several directories. The file of -json-into, "" if there is none, is created or emptied; end closes it.
func (m *Meta) NewInit(product getproviders.Product, because string, json bool, into string, progress view.Progress, several bool) (shown *view.Init, showing *Meta, end func(), problems problem.List) {
	how := m.ViewOptions(product, json, progress)
	how.Several = several
	var file *os.File
	if into != "" {
		var err error
		if file, err = os.OpenFile(into, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
			problems = problem.Fail("invalid_option", "Invalid argument", "Unable to open the file %q specified by -json-into for writing: %v", into, err)
		} else {
			how.JSONInto = file
		}
	}
	shown = view.NewInit(how)
	shown.Version(m.Version, because)
	return shown, m.Showing(shown.Activity), func() { _ = file.Close() }, problems
}
