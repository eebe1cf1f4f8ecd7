package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/providercache/event"
)

const (
	// plainInterval is the time between two lines about the progress of all tasks.
	plainInterval = 10 * time.Second
	// mostNamed is the maximum number of tasks that such a line names.
	mostNamed = 3
)

// Lines shows running tasks by lines, for files and for dumb
// terminals: for large downloads one at the beginning and one at the end, and every ten seconds
// one for all running tasks. It never overwrites anything.
type Lines struct {
	Out  Stream
	last time.Time // of the last line about all tasks
}

// Show prints a line when a large download begins, and when it is finished.
func (p *Lines) Show(t *Task, _ *Tasks) {
	if t.Over && t.shown && t.ok {
		fmt.Fprintln(p.Out, downloadedText(t))
	}
	if t.Over || t.shown || !t.large() || t.Phase != event.Downloading || !t.heard {
		return
	}
	t.shown = true
	size := "size unknown"
	if t.Total >= 0 {
		size = Megabytes(t.Total)
	}
	if t.had > 0 {
		size += ", of which " + Megabytes(t.had) + " are here from an earlier run"
	}
	fmt.Fprintf(p.Out, "Downloading %s (%s)...\n", t.Name, size)
}

// downloadedText says that a package was downloaded, with its size and speed.
func downloadedText(t *Task) string {
	took := t.Last.Sub(t.Begun)
	text := fmt.Sprintf("Downloaded %s: %s in %s", t.Name, Megabytes(t.Came), Seconds(took))
	if took > 0 {
		text += " (" + Megabytes(perSecond(t.Came, took)) + "/s)"
	}
	return text
}

// Beat prints a line about long tasks every ten seconds, counted from the start of the first one.
func (p *Lines) Beat(all *Tasks) {
	now := all.Now()
	all.measure(now)
	if len(all.Running) == 0 || p.last.IsZero() {
		p.last = now
		return
	}
	if now.Sub(p.last) < plainInterval {
		return
	}
	p.last = now
	if text := stillText(all, now); text != "" {
		fmt.Fprintln(p.Out, text)
	}
}

// stillText describes the running tasks: each by its name, or if there are many only their sums.
func stillText(all *Tasks, now time.Time) string {
	named := map[event.Phase][]string{}
	n := 0
	for _, t := range all.Running {
		if needsBar(t, now) {
			named[t.Phase], n = append(named[t.Phase], t.Name+taskText(t, now)), n+1
		}
	}
	sum := all.sums()
	switch {
	case n == 0:
		return ""
	case n > mostNamed && sum.total > 0:
		rate := all.pace.rate(now)
		words := speed(rate, timeLeft(sum.total-sum.done, rate))
		words = append(words, HowFar(sum.done, sum.total))
		slices.Reverse(words)
		return fmt.Sprintf("Still working on %s, %d of %d are done: %s", Count(n, "package"), all.Ended, sum.tasks, strings.Join(words, ", "))
	}
	var parts []string
	for _, phase := range []event.Phase{event.Downloading, event.Unpacking, event.Verifying, event.Linking} {
		if len(named[phase]) > 0 {
			parts = append(parts, phase.String()+" "+strings.Join(named[phase], "; "))
		}
	}
	return "Still " + strings.Join(parts, "; ")
}

// taskText describes the progress of a task.
func taskText(t *Task, now time.Time) string {
	if t.Phase != event.Downloading && !t.isHashed() || t.Done == 0 && t.Total < 0 {
		return " (" + whole(now.Sub(t.since)) + ")"
	}
	words := []string{HowFar(t.Done, t.Total)}
	if quiet := now.Sub(t.Last); quiet >= stallDelay {
		words = append(words, "no data for "+whole(quiet))
	} else {
		more := speed(t.pace.rate(now), t.left(now))
		slices.Reverse(more)
		words = append(words, more...)
	}
	return ": " + strings.Join(words, ", ")
}

// Print writes lines of other output.
func (p *Lines) Print(to Stream, text []byte) (int, error) { return to.Write(text) }

// Close restarts the ten seconds.
func (p *Lines) Close() { p.last = time.Time{} }
