package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Activity shows what is under way while a command works: downloads, and what else takes time. The views
// of commands have one each; a command without a view of its own makes it with [NewActivity]. Its methods
// may be called from many goroutines, and are cheap.
type Activity struct {
	product   getproviders.Product
	platforms bool // a package may be wanted for several platforms
	refresh   time.Duration
	retries   Stream // where it is told that something is tried again; no Writer: nowhere
	pulse     par.Pulse

	verifies bool // nothing is fetched, so that nothing can be kept
	stopped  bool // nothing is drawn any more

	display display // these are used by what pulse runs
	tasks   tasks
	retried map[string]time.Time // what was told lately, and until when that holds
}

// NewActivity returns an Activity that shows things as the options say. With JSON, stdout is for programs.
// Close has to be called at the end.
func NewActivity(o Options) *Activity { return newActivity(o, displayFor(o)) }

func newActivity(o Options, shown display) *Activity {
	a := &Activity{product: o.Product, platforms: o.Platforms, refresh: o.Refresh, display: shown, retried: map[string]time.Time{}}
	if a.tasks.now = o.Now; o.Now == nil {
		a.tasks.now = time.Now
	}
	_, isHidden := shown.(hidden)
	if _, isJSON := shown.(*jsonDisplay); isJSON || isHidden {
		a.refresh = 0
	}
	if o.Stderr.Terminal && o.Progress != ProgressNone {
		a.retries = o.Stderr
	}
	return a
}

// do runs f, then shows what there is to show, at once or when it is time.
func (a *Activity) do(f func()) {
	a.pulse.Do(func() {
		f()
		if a.stopped {
			return
		}
		if len(a.tasks.running) > 0 {
			a.pulse.Start(a.refresh, func() { a.display.beat(&a.tasks) })
		}
		if a.refresh <= 0 {
			a.display.beat(&a.tasks)
		}
	})
}

// Observe takes in an event of package event, lockhashes or archivedir.
func (a *Activity) Observe(e event.Event) { a.do(func() { a.observe(e) }) }

func (a *Activity) observe(e event.Event) {
	switch e := e.(type) {
	case event.FetchingEvent:
		a.start(packageKey{provider: e.Addr, version: e.Version}, true)
	case event.ProgressEvent:
		a.progress(e)
	case event.PhaseEvent:
		a.phase(packageKey{provider: e.Addr, version: e.Version, platform: e.Platform}, e.Phase)
	case event.HashingEvent:
		a.hashing(e)
	case event.HashProgressEvent:
		if t := a.tasks.find(packageKey{provider: e.Addr, version: e.Version, platform: e.Platform, dir: e.Dir}); t != nil {
			t.hash(e.Done, a.tasks.now())
			a.display.update(t)
		}
	case event.KeptEvent:
		a.tasks.kept += e.Bytes
	case event.VerifyEvent:
		a.verifies = true
		a.tasks.sizes = e.Bytes
		a.tasks.announced += len(e.Bytes)
		for _, size := range e.Bytes {
			a.tasks.awaited += size
		}
	case lockhashes.QueuedEvent:
		a.tasks.announced += len(e.Packages)
	case archivedir.QueuedEvent:
		a.tasks.announced += len(e.Packages)
	default:
		a.ended(e)
	}
}

// ended takes in events that end a task.
func (a *Activity) ended(e event.Event) {
	switch e := e.(type) {
	case event.PresentEvent:
		a.end(packageKey{provider: e.Addr, version: e.Version}, false)
	case event.LinkedEvent:
		a.end(packageKey{provider: e.Addr, version: e.Version}, false)
	case event.HashedEvent:
		a.end(packageKey{provider: e.Addr, version: e.Version, platform: e.Platform, dir: e.Dir}, false)
	case event.FetchedEvent:
		a.end(packageKey{provider: e.Addr, version: e.Version}, true)
	case lockhashes.DoneEvent:
		a.count(keyOf(e.Package.Selection, e.Package.Platform), e.Err == nil, false)
	case archivedir.DoneEvent:
		p := e.Package
		a.count(keyOf(p.Selection, p.Platform), p.Err == nil && !p.Present, true)
	case event.FailedEvent:
		key := packageKey{provider: e.Addr}
		if failed, ok := errors.AsType[*resolve.ProviderError](e.Err); ok {
			key.version = failed.Version
		}
		a.end(key, false)
	}
}

// count ends the task of a package that was announced, if it was begun.
func (a *Activity) count(key packageKey, ok, stays bool) {
	if a.tasks.find(key) == nil {
		a.tasks.ended++
		return
	}
	kept := a.tasks.kept
	a.end(key, ok)
	if !stays {
		a.tasks.kept = kept
	}
}

func (a *Activity) progress(e event.ProgressEvent) {
	t := a.start(packageKey{provider: e.Addr, version: e.Version, platform: e.Platform}, true)
	t.advance(e.Done, e.Total, a.tasks.now())
	a.display.update(t)
}

// hashing begins to verify a package. Where packages are only verified, each directory has a task of its own.
func (a *Activity) hashing(e event.HashingEvent) {
	key := packageKey{provider: e.Addr, version: e.Version, platform: e.Platform}
	if a.verifies {
		key.dir = e.Dir
	}
	t := a.start(key, false)
	if size, known := a.tasks.sizes[e.Dir]; known {
		t.total = size
	}
	t.done = 0
	a.phase(key, event.Verifying)
}

// phase is about a package; one of which nothing was heard is only prepared for its place.
func (a *Activity) phase(key packageKey, phase event.Phase) {
	t := a.start(key, false)
	t.enter(phase, a.tasks.now())
	a.display.update(t)
}

// end ends the tasks of a package; ok says that it was fetched and is in its place.
func (a *Activity) end(key packageKey, ok bool) {
	for t := a.tasks.find(key); t != nil; t = a.tasks.find(key) {
		if a.tasks.end(t, ok); ok {
			a.display.finish(t, &a.tasks)
		} else {
			a.display.drop(t)
		}
	}
}

// start begins a task, or goes on with it, under the name that a package has for people.
func (a *Activity) start(key packageKey, counted bool) *task {
	name := Printable(a.product.Short(key.provider)) + " v" + key.version.String()
	if key.platform != (getproviders.Platform{}) && (a.platforms || key.platform != getproviders.CurrentPlatform()) {
		name += " for " + key.platform.String()
	}
	return a.tasks.start(key, name, counted)
}

// Module takes in how far the package of a module is; total is -1 if it isn't known, and ended says that it
// is there, or won't be.
func (a *Activity) Module(pkg string, done, total int64, ended bool) {
	key := packageKey{module: pkg}
	a.do(func() {
		if ended {
			a.end(key, done > 0)
			return
		}
		t := a.tasks.start(key, Printable(pkg), true)
		if t.advance(done, total, a.tasks.now()); done == total {
			t.enter(event.Unpacking, a.tasks.now())
		}
		a.display.update(t)
	})
}

// Retrying tells, in a terminal, that a request is going to be made again. The same is told once.
func (a *Activity) Retrying(r hosts.Retry) {
	if a.retries.Writer == nil {
		return
	}
	a.do(func() {
		now := a.tasks.now()
		what := fmt.Sprintf("%s %d %d %s", r.Host, r.Attempt, r.Attempts, r.Reason)
		if now.Before(a.retried[what]) {
			return
		}
		a.retried[what] = now.Add(max(r.Wait, time.Second))
		text := fmt.Sprintf("retrying %s (%d of %d) in %s: %s\n", Printable(r.Host), r.Attempt, r.Attempts, seconds(r.Wait), Printable(r.Reason))
		_, _ = a.display.print(a.retries, []byte(text))
	})
}

// Interrupted tells, after the problems, what is kept of an interrupted run. It says nothing if ctx hasn't ended, or if
// packages were only verified.
func (a *Activity) Interrupted(ctx context.Context, to Stream) {
	if a.Close(); ctx.Err() == nil || a.verifies {
		return
	}
	text := "Interrupted. Run again to continue."
	a.pulse.Do(func() {
		if a.tasks.kept > 0 {
			text = fmt.Sprintf("Interrupted. %s are kept; run again to continue.", megabytes(a.tasks.kept))
		}
	})
	fmt.Fprintln(to, wrap(text, columns(to)))
}

// Close takes away what is shown and doesn't stay: from now on the terminal belongs to others. An Activity may
// be used again, and may be closed twice.
func (a *Activity) Close() {
	a.pulse.Stop()
	a.pulse.Do(func() {
		a.tasks = tasks{now: a.tasks.now, kept: a.tasks.kept}
		a.display.close()
	})
}

// StopDrawingAfter removes what is drawn when ctx ends, and from then on only lines that stay are
// written: the work is being stopped, and a second interrupt ends the process before it could
// remove anything.
func (a *Activity) StopDrawingAfter(ctx context.Context) { par.AfterEnd(ctx, a.stopDrawing) }

func (a *Activity) stopDrawing() {
	a.pulse.Do(func() {
		a.stopped = true
		a.display.close()
	})
	a.pulse.Stop()
}

// above returns a stream for whole lines, which stand above what is drawn if they go to the same terminal.
func (a *Activity) above(to Stream) Stream {
	to.Writer = above{a, to}
	return to
}

type above struct {
	activity *Activity
	Stream
}

// Write implements io.Writer, for whole lines.
func (w above) Write(p []byte) (n int, err error) {
	w.activity.pulse.Do(func() { n, err = w.activity.display.print(w.Stream, p) })
	return n, err
}
