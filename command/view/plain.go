package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/providercache/event"
)

const (
	// plainInterval is how often it is printed how far everything is.
	plainInterval = 10 * time.Second
	// mostNamed is how many tasks such a line names at most.
	mostNamed = 3
)

// plainDisplay shows what is under way by lines, for files and for terminals that know
// nothing else: for large downloads one at the beginning and one at the end, and every ten seconds
// one for all that runs. Nothing is ever overwritten.
type plainDisplay struct {
	hidden
	out  Stream
	last time.Time // of the last line about them all
}

func (p *plainDisplay) show(t *task, _ *tasks) {
	if t.over && t.shown && t.ok {
		fmt.Fprintln(p.out, downloadedText(t))
	}
	if t.over || t.shown || !t.large() || t.phase != event.Downloading || !t.heard {
		return
	}
	t.shown = true
	size := "size unknown"
	if t.total >= 0 {
		size = megabytes(t.total)
	}
	if t.had > 0 {
		size += ", of which " + megabytes(t.had) + " are here from an earlier run"
	}
	fmt.Fprintf(p.out, "Downloading %s (%s)...\n", t.name, size)
}

// downloadedText says that a package is in its place, how large it was and how fast it came.
func downloadedText(t *task) string {
	took := t.last.Sub(t.begun)
	text := fmt.Sprintf("Downloaded %s: %s in %s", t.name, megabytes(t.came), seconds(took))
	if took > 0 {
		text += " (" + megabytes(perSecond(t.came, took)) + "/s)"
	}
	return text
}

// beat implements display. Ten seconds begin when something begins.
func (p *plainDisplay) beat(all *tasks) {
	now := all.now()
	all.measure(now)
	if len(all.running) == 0 || p.last.IsZero() {
		p.last = now
		return
	}
	if now.Sub(p.last) < plainInterval {
		return
	}
	p.last = now
	if text := stillText(all, now); text != "" {
		fmt.Fprintln(p.out, text)
	}
}

// stillText says what is under way: each task by its name, or if there are many all together.
func stillText(all *tasks, now time.Time) string {
	named := map[event.Phase][]string{}
	n := 0
	for _, t := range all.running {
		if needsBar(t, now) {
			named[t.phase], n = append(named[t.phase], t.name+taskText(t, now)), n+1
		}
	}
	total, _ := all.total()
	switch {
	case n == 0:
		return ""
	case n > mostNamed && total > 0:
		rate := all.pace.rate(now)
		words := speed(rate, timeLeft(total-all.done(), rate))
		words = append(words, howFar(all.done(), total))
		slices.Reverse(words)
		return fmt.Sprintf("Still working on %s, %d of %d are done: %s", count(n, "package"), all.ended, all.count(), strings.Join(words, ", "))
	}
	var parts []string
	for _, phase := range []event.Phase{event.Downloading, event.Unpacking, event.Verifying, event.Linking} {
		if len(named[phase]) > 0 {
			parts = append(parts, phase.String()+" "+strings.Join(named[phase], "; "))
		}
	}
	return "Still " + strings.Join(parts, "; ")
}

// taskText says how far a task is.
func taskText(t *task, now time.Time) string {
	if t.phase != event.Downloading && !t.isHashed() || t.done == 0 && t.total < 0 {
		return " (" + whole(now.Sub(t.since)) + ")"
	}
	words := []string{howFar(t.done, t.total)}
	if quiet := now.Sub(t.last); quiet >= stallDelay {
		words = append(words, "no data for "+whole(quiet))
	} else {
		more := speed(t.pace.rate(now), t.left(now))
		slices.Reverse(more)
		words = append(words, more...)
	}
	return ": " + strings.Join(words, ", ")
}

func (p *plainDisplay) close() { p.last = time.Time{} }
