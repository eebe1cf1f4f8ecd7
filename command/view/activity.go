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

// Activity keeps the record of what a command does, and shows what is under way: downloads, and what else takes time. The views
// of commands have one each; a command without a view of its own makes it with [NewActivity]. Its methods
// may be called from many goroutines, and are cheap.
type Activity struct {
	out     printer // of lines; nil: none are printed
	refresh time.Duration
	retries terminal.Stream // where it is told that something is tried again; no Writer: nowhere
	pulse   par.Pulse
	stopped bool // nothing is drawn any more
	noted   bool // what is printed once was

	run     *run // these are used by what pulse runs
	display display
	retried map[string]time.Time // what was told lately, and until when that holds
}

// NewActivity returns an Activity that shows things as the options say. With JSON, stdout is for programs.
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

// openForPeople makes what speaks to people and what shows what is under way, which have to know of each
// other: lines stand above bars.
func openForPeople(o Options) (humanPrinter, *Activity) {
	a := newActivity(o, displayFor(o))
	o.Stdout, o.Stderr = a.above(o.Stdout), a.above(o.Stderr)
	return newHumanPrinter(o), a
}

// do runs f, then shows what there is to show, at once or when it is time.
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

// Observe takes in an event of package event, lockhashes or archivedir, and prints the lines whose turn it is. Views that
// print lines are for one goroutine at a time. After the last event a view has to be ended: until then a terminal belongs to the bars.
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

// Advise has a warning be among what sources and policies have to say, once.
func (a *Activity) Advise(of getproviders.Provider, warning *problem.Problem) {
	a.pulse.Do(func() {
		w := a.run.item(packageKey{Provider: of})
		w.warnings = uniqueWarnings(append(w.warnings, warning))
	})
}

// line tells people of one thing.
func (a *Activity) line(text string) { a.out.line(line{human: text}) }

// answer has one of two sentences, and the reasons for the second.
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

// End closes the Activity, prints the lines that are left, and returns what sources and policies had to say.
func (a *Activity) End() problem.List { return uniqueWarnings(a.end()) }

// end is End, with what is said of each provider in the order of their addresses.
func (a *Activity) end() problem.List {
	a.Close()
	a.print(a.run.turns.rest())
	return a.run.takeWarnings()
}

// Platform says for which platform the packages are that are put into a cache from now on.
func (a *Activity) Platform(platform getproviders.Platform) {
	a.pulse.Do(func() { a.run.platform = platform })
}

// Span is when the work on a package began and ended; zero where nothing was to be done.
func (a *Activity) Span(o event.Outcome) (of result.Span) {
	a.pulse.Do(func() { of = a.run.span(o) })
	return of
}

// Module takes in how far the package of a module is; total is -1 if it isn't known, and ended says that it
// is there, or won't be.
func (a *Activity) Module(pkg string, done, total int64, ended bool) {
	a.do(func() { a.run.module(pkg, done, total, ended) })
}

// Retrying tells, in a terminal, that a request is going to be made again. The same is told once. An Activity that is nil tells nothing.
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

// Interrupted tells, after the problems, what is kept of an interrupted run. It says nothing if ctx hasn't ended, or if
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

// Close takes away what is shown and doesn't stay: from now on the terminal belongs to others. An Activity may
// be used again, and may be closed twice.
func (a *Activity) Close() {
	a.pulse.Stop()
	a.pulse.Do(func() {
		a.run.tasks = terminal.Tasks{Now: a.run.now, Kept: a.run.tasks.Kept}
		a.display.Close()
	})
}

// StopDrawingAfter removes what is drawn when ctx ends, and from then on only lines that stay are
// written: the work is being stopped, and a second interrupt ends the process before it could
// remove anything.
func (a *Activity) StopDrawingAfter(ctx context.Context) { context.AfterFunc(ctx, a.stopDrawing) }

func (a *Activity) stopDrawing() {
	a.pulse.Do(func() {
		a.stopped = true
		a.display.Close()
	})
	a.pulse.Stop()
}

// above returns a stream for whole lines, which stand above what is drawn if they go to the same terminal.
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
