// Package view keeps the record of what a command does, and prints lines for people or JSON for programs while it runs: events
// update the record, and bars, lines, the summary and the page are made of it. Reports at the end are in package result, problems in explain.
//
// The rules:
//
//   - Results go to stdout, and errors to stderr. Warnings, progress and the
//     summary go to stderr if that is a terminal, else to stdout, where Terraform
//     has its warnings: what succeeds in a pipe writes nothing to stderr. Only if
//     stdout is for programs, warnings stay on stderr. With JSON everything goes to
//     stdout, one object a line, and stderr stays empty.
//   - Lines, headings and codes that Terraform has are Terraform's, to the
//     letter: programs look for them. What else there is to say of a provider
//     follows on lines of its own, indented, and in keys of JSON that
//     Terraform doesn't have. Explanations are tfdeps' own, and say what happened, why, and what
//     to do.
//   - What moves bytes or takes time is shown while it runs, by an [Activity]: by bars in a
//     terminal, which leave a line behind for each large download, else by a line every ten seconds. The last
//     line of an init sums it up. All amounts are in kB, MB and GB, as disks and networks have them. Programs get
//     objects of the type download_progress, a second apart, and no such line.
//   - Colour is for terminals, and not for those who asked for none by -no-color or
//     NO_COLOR. Everything can be understood without it. Problems stand in
//     boxes, except with -no-color, where Terraform draws none either.
//   - Paragraphs are wrapped to the terminal's width, else to 78 columns; lines
//     that begin with a space stay as they are.
//   - The lines of an installation come in one order, that of the providers'
//     addresses, whatever the network did; Terraform's order is random.
//   - What others wrote is shown to people without its control characters.
//   - Nothing here knows a secret, and nothing may learn one: the CLI
//     configuration, where tokens are, is never quoted.
package view

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Options says what is printed, and where.
type Options struct {
	Product getproviders.Product
	JSON    bool
	// JSONInto gets the same in JSON, beside the output for people; nil: it isn't written. With JSON it
	// has no effect.
	JSONInto io.Writer
	// Data says that stdout is for programs, although what is shown is for people.
	Data bool
	// Plain is what -no-color asks for: neither colours nor boxes. NoColor is what
	// the variable NO_COLOR asks for.
	Plain, NoColor bool
	// Similar says which similar problems people are shown as one.
	Similar        explain.Similar
	Stdout, Stderr terminal.Stream
	// Now is for the time stamps of JSON, and to say how long something took.
	// It is called by many goroutines.
	Now func() time.Time
	// Progress says how it is shown what is under way.
	Progress Progress
	// NoBars has ProgressAuto show lines in terminals, too.
	NoBars bool
	// Several says that the run is about several directories, which [Init.Enter] names.
	Several bool
	// Platforms says that packages may be wanted for several platforms, which are named then.
	Platforms bool
	// Refresh is how often bars are drawn; 0: only when something happens.
	Refresh time.Duration
	// Showing says how problems are shown. What speaks to people and what speaks to programs have a copy each.
	Showing explain.Showing
}

// Progress says how it is shown what is under way. With [Options].JSON it is by objects of the type
// download_progress, if at all.
type Progress int

// The ways to show it. With ProgressNone, the line at the end that sums a run
// up is left out, too.
const (
	ProgressAuto  Progress = iota // ProgressTTY if stderr is a terminal, else lines as with ProgressPlain, on stdout
	ProgressTTY                   // bars, on stderr
	ProgressPlain                 // a line now and then, on stderr
	ProgressNone                  // not at all
)

// ParseProgress reads what users give: auto, tty, plain or none.
func ParseProgress(text string) (Progress, error) {
	if i := slices.Index([]string{"auto", "tty", "plain", "none"}, text); i >= 0 {
		return Progress(i), nil
	}
	return ProgressNone, fmt.Errorf("%q is not one of auto, tty, plain and none", text)
}

// printer is one of the two ways to speak.
type printer interface {
	line(l line)
	// Problems are shown in the order given.
	Problems(all problem.List)
}

// both speaks in two ways.
type both struct{ people, programs printer }

func (b both) line(l line) {
	b.people.line(l)
	b.programs.line(l)
}

func (b both) Problems(all problem.List) {
	b.people.Problems(all)
	b.programs.Problems(all)
}

// humanPrinter speaks to people.
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

// directories are those of a run that is about several: one after the other.
type directories struct {
	now   string     // the one that lines are about; "": a run is about the current directory alone
	named bool       // people have seen its name
	rows  [][]string // for people, of those that have ended
	was   counts     // when it was entered
	ends  []string   // what became of them, in words, each word once
	count map[string]int
}

// counts are what a run had when a directory was entered.
type counts struct{ order, modules, errors int }

// outside is what lines say that are about none of the directories.
const outside = "."

// line is that of a humanPrinter for one of several directories: people see what there is to do, and nothing of what is done.
func (d *directories) line(h humanPrinter, l line) {
	if l.human == "" || !l.todo {
		return
	}
	d.head(h, h.Out)
	fmt.Fprintln(h.Out, terminal.Printable(l.human))
}

// Problems has the directory's name stand above its problems.
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

// head shows the name of a directory, once.
func (d *directories) head(h humanPrinter, to terminal.Stream) {
	if !d.named {
		fmt.Fprintf(to, "\n%s\n", h.Paint(to, d.now+":", terminal.Bold))
	}
	d.named = true
}

// Problems shows errors and warnings to people: first those that belong to no file,
// in the order given, then the others by file and position. What has been shown
// once isn't repeated. With Data or JSON, warnings go to stderr, too.
func Problems(o Options, problems problem.List) {
	out := newHumanPrinter(o)
	out.Apart = true
	out.Problems(explain.Ordered(problems))
}

// display shows what is under way. It is for one goroutine at a time.
type display interface {
	// Show shows that something has come of a task, that it is in another phase, or that it has ended.
	Show(t *terminal.Task, all *terminal.Tasks)
	// Beat shows how far all of it is.
	Beat(all *terminal.Tasks)
	// Print writes whole lines of the rest of the program.
	Print(to terminal.Stream, text []byte) (int, error)
	// Close takes away what doesn't stay. It may be called twice.
	Close()
}

// hidden shows nothing. The other displays have from it what they do nothing for.
type hidden struct{}

func (hidden) Show(*terminal.Task, *terminal.Tasks)               {}
func (hidden) Beat(*terminal.Tasks)                               {}
func (hidden) Print(to terminal.Stream, text []byte) (int, error) { return to.Write(text) }
func (hidden) Close()                                             {}

// displayFor chooses how people are shown what is under way. Where stdout is for programs, and there is no
// terminal, nothing is shown: what succeeds in a pipe writes nothing to stderr.
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
