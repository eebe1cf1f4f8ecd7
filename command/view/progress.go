package view

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view/terminal"
)

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
	switch text {
	case "auto":
		return ProgressAuto, nil
	case "tty":
		return ProgressTTY, nil
	case "plain":
		return ProgressPlain, nil
	case "none":
		return ProgressNone, nil
	}
	return ProgressNone, fmt.Errorf("%q is not one of auto, tty, plain and none", text)
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

// open makes what speaks and what shows what is under way, which have to know of each
// other: lines stand above bars.
func open(o Options) (out printer, a *Activity) {
	if !o.JSON {
		return openForPeople(o)
	}
	programs, shown := newJSONPrinter(o), display(hidden{})
	if o.Progress != ProgressNone {
		shown = &jsonDisplay{out: programs}
	}
	return programs, newActivity(o, shown)
}

// openForPeople is open, for words.
func openForPeople(o Options) (humanPrinter, *Activity) {
	a := NewActivity(o)
	o.Stdout, o.Stderr = a.above(o.Stdout), a.above(o.Stderr)
	return newHumanPrinter(o), a
}

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
