// Package view keeps the record of what a command does, and prints lines for people or JSON for programs while it runs: events
// update the record, from which bars, lines, the summary and the page are made. Package result has the reports at the end, explain the problems.
//
// The rules:
//
//   - Results go to stdout, and errors to stderr. Warnings, progress and the
//     summary go to stderr if that is a terminal, else to stdout, where Terraform
//     has its warnings: a successful run in a pipe writes nothing to stderr. Only if
//     stdout is for programs, warnings stay on stderr. With JSON everything goes to
//     stdout, one object a line, and stderr stays empty.
//   - Lines, headings and codes that Terraform has are the same as Terraform's, to the
//     letter, because programs look for them. Further facts about a provider
//     follow on indented lines of their own, and in keys of JSON that
//     Terraform doesn't have. Explanations are tfdeps' own, and say what happened, why, and what
//     to do.
//   - Downloads and other long tasks are shown while they run, by an [Activity]: by bars in a
//     terminal, which leave a line behind for each large download, else by a line every ten seconds. The last
//     line of an init sums it up. All amounts are in kB, MB and GB (powers of ten). JSON has
//     objects of the type download_progress, a second apart, and no such line.
//   - Colour is for terminals only, and -no-color and NO_COLOR turn it off.
//     Everything can be understood without it. Problems are printed in
//     boxes, except with -no-color, where Terraform draws none either.
//   - Paragraphs are wrapped to the terminal's width, else to 78 columns; lines
//     that begin with a space stay as they are.
//   - The lines of an installation are in the order of the providers'
//     addresses, whichever download ends first; Terraform's order is random.
//   - Text from the network and from files is shown to people without its control characters.
//   - No secret gets here: the CLI configuration, which has the tokens, is never quoted.
package view

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

// Options says what is printed, and where.
type Options struct {
	explain.Names
	JSON bool
	// JSONInto gets the JSON output in addition to the output for people; nil means none. It has no effect with JSON.
	JSONInto io.Writer
	// Data says that stdout has data for programs, so that warnings and progress must not go there.
	Data bool
	// Plain is set by -no-color: neither colours nor boxes. NoColor is set by the variable NO_COLOR: no colours.
	Plain, NoColor bool
	// Similar says which similar problems are merged into one for people.
	Similar        explain.Similar
	Stdout, Stderr terminal.Stream
	// Now returns the current time, for timestamps and durations. Many goroutines call it.
	Now func() time.Time
	// Progress says how running tasks are shown.
	Progress Progress
	// NoBars makes ProgressAuto print lines in terminals, too.
	NoBars bool
	// Several says that the run works in several directories, and [Init.Enter] names each.
	Several bool
	// Platforms says that packages may be for several platforms, so that tasks are shown with their platform.
	Platforms bool
	// Refresh is the time between two drawings of the bars; 0 means that they are drawn only after events.
	Refresh time.Duration
	// Showing says how problems are shown. The printers for people and for JSON have a copy each.
	Showing explain.Showing
}

// Progress says how running tasks are shown. With [Options].JSON every value but ProgressNone means objects of the type download_progress.
type Progress int

// The values of Progress. ProgressNone also leaves out the line at the end that sums a run up.
const (
	ProgressAuto  Progress = iota // ProgressTTY if stderr is a terminal, else lines as with ProgressPlain, on stdout
	ProgressTTY                   // bars, on stderr
	ProgressPlain                 // a line now and then, on stderr
	ProgressNone                  // not at all
)

// ParseProgress parses auto, tty, plain or none.
func ParseProgress(text string) (Progress, error) {
	if i := slices.Index([]string{"auto", "tty", "plain", "none"}, text); i >= 0 {
		return Progress(i), nil
	}
	return ProgressNone, fmt.Errorf("%q is not one of auto, tty, plain and none", text)
}

// printer prints for people or for programs.
type printer interface {
	line(l line)
	// Problems are shown in the order given.
	Problems(all problem.List)
}

// both prints for people and for programs.
type both struct{ people, programs printer }

func (b both) line(l line) {
	b.people.line(l)
	b.programs.line(l)
}

func (b both) Problems(all problem.List) {
	b.people.Problems(all)
	b.programs.Problems(all)
}

// humanPrinter prints for people.
type humanPrinter struct {
	*explain.Printer
	several *directories
}

func (h humanPrinter) line(l line) {
	if h.several.now != "" {
		h.several.line(h, l)
		return
	}
	if l.gap {
		fmt.Fprintln(h.Out)
	}
	if l.item {
		l.human = "- " + l.human
	}
	if l.human != "" {
		fmt.Fprintln(h.Out, h.Paint(h.Out, terminal.Printable(l.human), l.style))
	}
}

func newHumanPrinter(o Options) humanPrinter {
	h := &explain.Printer{Out: o.Stdout, Err: o.Stderr, Warn: o.Stdout, Plain: o.Plain, Colorless: o.Plain || o.NoColor, Similar: o.Similar, Showing: o.Showing, Apart: explain.SpeechOf(o.Product).Gaps}
	if o.Stderr.Terminal || o.JSON || o.Data {
		h.Warn = o.Stderr
	}
	return humanPrinter{h, &directories{}}
}

// directories is the state of a run that works in several directories, one after the other.
type directories struct {
	now   string     // the directory that lines are about; "" means that the run works in the current directory only
	named bool       // people have seen its name
	rows  [][]string // for people, of directories that are done
	was   counts     // when the directory was entered
	ends  []string   // results in words, each once
	count map[string]int
}

// counts are the run's totals when a directory was entered.
type counts struct{ order, modules, errors int }

// outside is the directory in JSON of lines that are about no directory.
const outside = "."

// line prints a line for one of several directories: people only see what -check and -plan find.
func (d *directories) line(h humanPrinter, l line) {
	if l.human == "" || !l.todo {
		return
	}
	d.head(h, h.Out)
	fmt.Fprintln(h.Out, terminal.Printable(l.human))
}

// Problems prints the directory's name above its problems.
func (h humanPrinter) Problems(all problem.List) {
	if h.several.now != "" && h.several.now != outside && len(all) > 0 {
		to := h.Warn
		if all.HasErrors() {
			to = h.Err
		}
		h.several.head(h, to)
	}
	h.Printer.Problems(all)
}

// head prints the name of the directory once.
func (d *directories) head(h humanPrinter, to terminal.Stream) {
	if !d.named {
		fmt.Fprintf(to, "\n%s\n", h.Paint(to, d.now+":", terminal.Bold))
	}
	d.named = true
}

// Problems shows errors and warnings to people: first those that belong to no file,
// in the order given, then the others by file and position. Each is shown
// once. With Data or JSON, warnings go to stderr, too.
func Problems(o Options, problems problem.List) {
	out := newHumanPrinter(o)
	out.Apart = true
	out.Problems(explain.Ordered(problems))
}

// display shows running tasks. It is for one goroutine at a time.
type display interface {
	// Show is called when a task has got bytes, has entered another phase, or has ended.
	Show(t *terminal.Task, all *terminal.Tasks)
	// Beat shows the progress of all tasks.
	Beat(all *terminal.Tasks)
	// Print writes whole lines of other output, above the bars.
	Print(to terminal.Stream, text []byte) (int, error)
	// Close removes the bars. It may be called twice.
	Close()
}

// hidden shows nothing. Other displays embed it for the methods that do nothing.
type hidden struct{}

func (hidden) Show(*terminal.Task, *terminal.Tasks)               {}
func (hidden) Beat(*terminal.Tasks)                               {}
func (hidden) Print(to terminal.Stream, text []byte) (int, error) { return to.Write(text) }
func (hidden) Close()                                             {}

// displayFor chooses how people see running tasks. If stdout is for programs and stderr is no
// terminal, nothing is shown, because a successful run in a pipe writes nothing to stderr.
func displayFor(o Options) display {
	switch {
	case o.Progress == ProgressTTY, o.Progress == ProgressAuto && o.Stderr.Color && !o.NoBars:
		return terminal.NewBars(o.Stderr)
	case o.Progress == ProgressNone, o.Progress == ProgressAuto && (o.Data || o.JSON) && !o.Stderr.Terminal:
		return hidden{}
	case o.Progress == ProgressAuto && !o.Stderr.Terminal:
		return &terminal.Lines{Out: o.Stdout}
	default:
		return &terminal.Lines{Out: o.Stderr}
	}
}
