package view

import (
	"context"
	"fmt"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Activity keeps the record of what a command does, and shows downloads and other long tasks while they run. Each view
// of a command has one; a command without a view of its own makes it with [NewActivity]. Its methods
// are cheap, and many goroutines may call them.
type Activity struct {
	out     printer // of lines; nil means that no lines are printed
	refresh time.Duration
	retries terminal.Stream // gets a line for each retried request; without a Writer none are printed
	pulse   par.Pulse
	stopped bool // nothing is drawn any more
	noted   bool // the line with once was printed

	run     *run // the following fields are only used by functions that pulse runs
	display display
	retried map[string]time.Time // the retries that were printed, and until when each isn't printed again
}

// NewActivity returns an Activity with the options. With JSON, stdout is for programs.
// Close or End has to be called at the end.
func NewActivity(o Options) *Activity {
	a := newActivity(o, displayFor(o))
	a.run.silent = true
	return a
}

func newActivity(o Options, shown display) *Activity {
	a := &Activity{run: newRun(o), refresh: o.Refresh, display: shown, retried: map[string]time.Time{}}
	switch shown.(type) {
	case hidden, *jsonDisplay:
		a.refresh = 0
	}
	if o.Stderr.Terminal && o.Progress != ProgressNone {
		a.retries = o.Stderr
	}
	return a
}

// openForPeople returns a printer for people and an Activity that know each other, so that lines are printed above the bars.
func openForPeople(o Options) (humanPrinter, *Activity) {
	a := newActivity(o, displayFor(o))
	o.Stdout, o.Stderr = a.above(o.Stdout), a.above(o.Stderr)
	return newHumanPrinter(o), a
}

// do runs f, then updates the display, at once or at the next refresh.
func (a *Activity) do(f func()) {
	a.pulse.Do(func() {
		f()
		tasks := &a.run.tasks
		if t := a.run.touched; t != nil {
			a.display.Show(t, tasks)
		}
		if a.run.touched = nil; a.stopped {
			return
		}
		if len(tasks.Running) > 0 {
			a.pulse.Start(a.refresh, func() { a.display.Beat(tasks) })
		}
		if a.refresh <= 0 {
			a.display.Beat(tasks)
		}
	})
}

// Observe records an event of package event, lockhashes or archivedir, and prints the lines whose turn it is. Views that
// print lines are for one goroutine at a time. Call End or Close after the last event, because the bars stay in the terminal until then.
func (a *Activity) Observe(e event.Event) {
	a.do(func() { a.run.observe(e) })
	a.print(a.run.turns.take())
}

func (a *Activity) print(lines []line) {
	if a.out == nil {
		return
	}
	for _, l := range lines {
		if !l.once || !a.noted {
			a.out.line(l)
		}
		a.noted = a.noted || l.once
	}
}

// Advise adds a warning to those of sources and policies, once.
func (a *Activity) Advise(of getproviders.Provider, warning *problem.Problem) {
	a.pulse.Do(func() {
		w := a.run.item(packageKey{Provider: of})
		w.warnings = uniqueWarnings(append(w.warnings, warning))
	})
}

// line prints a line for people.
func (a *Activity) line(text string) { a.out.line(line{human: text}) }

// answer prints no if there are no reasons, else yes and the reasons.
func (a *Activity) answer(reasons []CheckReason, no, yes string) {
	answer := line{human: no, json: no, kind: "check", keys: result.Object{"up_to_date", len(reasons) == 0, "reasons", len(reasons)}}
	if len(reasons) > 0 {
		a.line(yes + ":")
		answer.human, answer.json = "", yes
	}
	for _, r := range reasons {
		l := r.line()
		l.human = fmt.Sprintf("  - %s (%s)", r.text(), r.Code)
		a.out.line(l)
	}
	a.out.line(answer)
}

// End closes the Activity, prints the lines that are left, and returns the warnings of sources and policies.
func (a *Activity) End() problem.List { return uniqueWarnings(a.end()) }

// end is End, with the warnings in the order of the providers' addresses, and not made unique.
func (a *Activity) end() problem.List {
	a.Close()
	a.print(a.run.turns.rest())
	return a.run.takeWarnings()
}

// Platform sets the platform of the packages that are put into a cache from now on.
func (a *Activity) Platform(platform getproviders.Platform) {
	a.pulse.Do(func() { a.run.platform = platform })
}

// Span returns when the work on a package began and ended, or zero if there was no work.
func (a *Activity) Span(o event.Outcome) (of result.Span) {
	a.pulse.Do(func() { of = a.run.span(o) })
	return of
}

// Module records the progress of a module's package in bytes; total is -1 if it is unknown, and ended says that the
// download is complete or has failed.
func (a *Activity) Module(pkg string, done, total int64, ended bool) {
	a.do(func() { a.run.module(pkg, done, total, ended) })
}

// Retrying prints, in a terminal, that a request is going to be retried. The same retry is printed once. A nil Activity prints nothing.
func (a *Activity) Retrying(r hosts.Retry) {
	if a == nil || a.retries.Writer == nil {
		return
	}
	a.do(func() {
		now := a.run.now()
		what := fmt.Sprintf("%s %d %d %s", r.Host, r.Attempt, r.Attempts, r.Reason)
		if now.Before(a.retried[what]) {
			return
		}
		a.retried[what] = now.Add(max(r.Wait, time.Second))
		text := fmt.Sprintf("retrying %s (%d of %d) in %s: %s\n", terminal.Printable(r.Host), r.Attempt, r.Attempts, terminal.Seconds(r.Wait), terminal.Printable(r.Reason))
		_, _ = a.display.Print(a.retries, []byte(text))
	})
}

// Interrupted prints, after the problems, how many bytes of an interrupted run are kept. It prints nothing if ctx hasn't ended, or if
// packages were only verified.
func (a *Activity) Interrupted(ctx context.Context, to terminal.Stream) {
	if a.Close(); ctx.Err() == nil || a.run.verifies {
		return
	}
	text := "Interrupted. Run again to continue."
	a.pulse.Do(func() {
		if a.run.tasks.Kept > 0 {
			text = fmt.Sprintf("Interrupted. %s are kept; run again to continue.", terminal.Megabytes(a.run.tasks.Kept))
		}
	})
	fmt.Fprintln(to, terminal.Wrap(text, terminal.Columns(to)))
}

// Close removes the bars, so that others can write to the terminal. An Activity may be used again after it, and may be closed twice.
func (a *Activity) Close() {
	a.pulse.Stop()
	a.pulse.Do(func() {
		a.run.tasks = terminal.Tasks{Now: a.run.now, Kept: a.run.tasks.Kept}
		a.display.Close()
	})
}

// StopDrawingAfter removes the bars when ctx ends, and draws none from then on, because a second interrupt
// ends the process before it could remove them.
func (a *Activity) StopDrawingAfter(ctx context.Context) { context.AfterFunc(ctx, a.stopDrawing) }

func (a *Activity) stopDrawing() {
	a.pulse.Do(func() {
		a.stopped = true
		a.display.Close()
	})
	a.pulse.Stop()
}

// above returns a stream for whole lines, which are printed above the bars if these are in the same terminal.
func (a *Activity) above(to terminal.Stream) terminal.Stream {
	to.Writer = above{a, to}
	return to
}

type above struct {
	activity *Activity
	terminal.Stream
}

// Write implements io.Writer, for whole lines.
func (w above) Write(p []byte) (n int, err error) {
	w.activity.pulse.Do(func() { n, err = w.activity.display.Print(w.Stream, p) })
	return n, err
}
