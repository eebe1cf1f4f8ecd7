package view

import "github.com/tfdeps/tfdeps/command/view/terminal"

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
