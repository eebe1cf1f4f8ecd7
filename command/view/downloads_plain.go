package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// plainInterval is how often at most it is told how far downloads have come.
const plainInterval = 10 * time.Second

// plainDisplay shows downloads by lines, for files and for terminals that know
// nothing else: one at the beginning, one at the end, and in between now and
// then one for all that run. Nothing is ever overwritten.
type plainDisplay struct {
	out   io.Writer
	shown []*download // in the order of their beginning
	last  time.Time   // of the last line about them all
}

func (p *plainDisplay) update(d *download) {
	if !slices.Contains(p.shown, d) {
		if !d.large() {
			return
		}
		p.begin(d)
	}
	if d.last.Sub(p.last) < plainInterval {
		return
	}
	p.last = d.last
	states := make([]string, len(p.shown))
	for i, one := range p.shown {
		states[i] = one.short + " " + howFar(one.done, one.total)
	}
	fmt.Fprintln(p.out, "Still downloading: "+strings.Join(states, ", "))
}

func (p *plainDisplay) begin(d *download) {
	if len(p.shown) == 0 {
		p.last = d.last
	}
	p.shown = append(p.shown, d)
	size := "size unknown"
	if d.total >= 0 {
		size = megabytes(d.total)
	}
	if d.had > 0 {
		size += ", of which " + megabytes(d.had) + " are here from an earlier run"
	}
	fmt.Fprintf(p.out, "Downloading %s (%s)...\n", d.name(), size)
}

func (p *plainDisplay) finish(d *download) {
	if !p.forget(d) {
		return
	}
	took := d.last.Sub(d.begun)
	text := fmt.Sprintf("Downloaded %s: %s in %s", d.name(), megabytes(d.came), seconds(took))
	if took > 0 {
		text += " (" + megabytes(perSecond(d.came, took)) + "/s)"
	}
	fmt.Fprintln(p.out, text)
}

func (p *plainDisplay) drop(d *download) { p.forget(d) }

func (p *plainDisplay) close() { p.shown = nil }

// forget reports whether the download had been shown.
func (p *plainDisplay) forget(d *download) bool {
	i := slices.Index(p.shown, d)
	if i < 0 {
		return false
	}
	p.shown = slices.Delete(p.shown, i, i+1)
	return true
}
