package view

import (
	"fmt"
	"time"
)

// Progress says how downloads are shown while they run. With [Options].JSON it
// is by objects of the type download_progress, if at all.
type Progress int

// The ways to show them. With ProgressNone, the line at the end that sums a run
// up is left out, too.
const (
	ProgressAuto  Progress = iota // ProgressTTY if stderr is a terminal, else ProgressPlain
	ProgressTTY                   // a bar for each of them, on stderr
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
	return ProgressNone, fmt.Errorf("%q is none of auto, tty, plain and none", text)
}

// display shows downloads while they run.
type display interface {
	// update is told that some of a download has come.
	update(d *download)
	// finish is told that a package is in its place.
	finish(d *download)
	// drop is told that a download has come to nothing.
	drop(d *download)
	// close is told that there will be no more. It may be told so twice.
	close()
}

// hidden shows nothing.
type hidden struct{}

func (hidden) update(*download) {}
func (hidden) finish(*download) {}
func (hidden) drop(*download)   {}
func (hidden) close()           {}

// open makes what speaks and what shows downloads, which have to know of each
// other: lines stand above bars.
func open(o Options) (printer, display) {
	switch {
	case o.JSON && o.Progress == ProgressNone:
		return newJSONPrinter(o), hidden{}
	case o.JSON:
		out := newJSONPrinter(o)
		return out, &jsonDisplay{out: out, told: map[*download]time.Time{}}
	case o.Progress == ProgressNone:
		return newHumanPrinter(o), hidden{}
	case o.Progress == ProgressTTY, o.Progress == ProgressAuto && o.Stderr.Color:
		b := newBars(o.Stderr, o.Now)
		o.Stdout, o.Stderr = b.above(o.Stdout), b.above(o.Stderr)
		return newHumanPrinter(o), b
	default:
		return newHumanPrinter(o), &plainDisplay{out: o.Stderr}
	}
}
