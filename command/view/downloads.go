package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Progress says how downloads are shown while they run. With [Options].JSON it
// is by objects of the type download_progress, if at all.
type Progress int

// The ways to show them. With ProgressNone, the line at the end that sums a run
// up is left out, too.
const (
	ProgressAuto  Progress = iota // ProgressTTY if stderr is a terminal, else lines as with ProgressPlain, on stdout
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
	return ProgressNone, fmt.Errorf("%q is not one of auto, tty, plain and none", text)
}

// display shows downloads while they run.
type display interface {
	// update shows that some of a download has come.
	update(d *download)
	// finish shows that a package is in its place.
	finish(d *download)
	// drop ends a download that has failed.
	drop(d *download)
	// close ends all. It may be called twice.
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
		return out, &jsonDisplay{out: out, last: map[*download]time.Time{}}
	case o.Progress == ProgressNone:
		return newHumanPrinter(o), hidden{}
	case o.Progress == ProgressTTY, o.Progress == ProgressAuto && o.Stderr.Color && !o.NoBars:
		b := newBars(o.Stderr, o.Now)
		o.Stdout, o.Stderr = b.above(o.Stdout), b.above(o.Stderr)
		return newHumanPrinter(o), b
	default:
		out := newHumanPrinter(o)
		if o.Progress == ProgressAuto {
			return out, &plainDisplay{out: out.warn}
		}
		return out, &plainDisplay{out: o.Stderr}
	}
}

// worthShowing is the size in bytes from which on people are shown a download.
const worthShowing = 1 << 20

// download is one that runs, or has run until a moment ago.
type download struct {
	provider getproviders.Provider
	version  getproviders.Version
	short    string // the provider, for people

	begun, last time.Time // of what has come
	had         int64     // bytes that an earlier run had left
	done, total int64     // bytes; total is -1 if unknown
	came        int64     // bytes over the network, those included that had to come again
}

// name is what is downloaded, for people.
func (d *download) name() string { return d.short + " v" + d.version.String() }

// large reports whether people want to see it.
func (d *download) large() bool { return max(d.done, d.total) >= worthShowing }

// advance records how far it has come. A server that has another archive than
// before starts all over.
func (d *download) advance(e event.ProgressEvent, now time.Time) {
	if e.Done < d.done {
		d.done, d.had = 0, 0
	}
	d.came += e.Done - d.done
	d.done, d.total, d.last = e.Done, e.Total, now
}

// downloads follows those that run.
type downloads struct {
	product getproviders.Product
	now     func() time.Time
	display display
	running map[getproviders.Provider]*download
}

// observe takes an event in. Of a package that is in its place it returns how
// many bytes of it came over the network.
func (d *downloads) observe(e event.Event) (came int64) {
	switch e := e.(type) {
	case event.ProgressEvent:
		d.progress(e)
	case event.FetchedEvent:
		if one := d.end(e.Addr); one != nil {
			d.display.finish(one)
			return one.came
		}
	case event.FailedEvent:
		if one := d.end(e.Addr); one != nil {
			d.display.drop(one)
		}
	}
	return 0
}

func (d *downloads) progress(e event.ProgressEvent) {
	now := d.now()
	one := d.running[e.Addr]
	if one == nil {
		one = &download{
			provider: e.Addr, version: e.Version, short: printable(d.product.Short(e.Addr)),
			begun: now, had: e.Done, done: e.Done,
		}
		d.running[e.Addr] = one
	}
	one.advance(e, now)
	d.display.update(one)
}

func (d *downloads) end(p getproviders.Provider) *download {
	one := d.running[p]
	delete(d.running, p)
	return one
}

// close gives up what still runs, after an interrupt for instance.
func (d *downloads) close() {
	clear(d.running)
	d.display.close()
}

// plainInterval is how often at most it is printed how far downloads have come.
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

// jsonInterval is the least time between two events of one download. The
// first time is when it has lasted as long: a short one is none to wait for,
// and its lines of the type log say all there is to say.
const jsonInterval = time.Second

// jsonDisplay shows downloads to programs, by objects of a type that
// Terraform doesn't have. They come when it happens; the lines of the type log about the
// same provider may come later, as those are put in order.
type jsonDisplay struct {
	out  *jsonPrinter
	last map[*download]time.Time // when each was reported last
}

func (j *jsonDisplay) update(d *download) {
	before, ok := j.last[d]
	if !ok {
		before = d.begun
	}
	if d.last.Sub(before) < jsonInterval {
		return
	}
	j.last[d] = d.last
	object := map[string]any{
		"provider": d.provider.String(),
		"version":  d.version.String(),
		"done":     d.done,
	}
	if d.total >= 0 {
		object["total"] = d.total
	}
	j.out.write("info", d.name()+": "+howFar(d.done, d.total), "download_progress", object)
}

func (j *jsonDisplay) finish(d *download) { j.drop(d) }

func (j *jsonDisplay) drop(d *download) { delete(j.last, d) }

func (j *jsonDisplay) close() { clear(j.last) }

// megabytes is a number of bytes in the units of disks and networks, which are
// powers of ten.
func megabytes(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%d kB", (n+999)/1000)
	case n < 10e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n < 1e9:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}

// howFar says how much of a total has come; total is -1 if unknown.
func howFar(done, total int64) string {
	if total <= 0 {
		return megabytes(done)
	}
	return fmt.Sprintf("%s of %s (%.0f%%)", megabytes(done), megabytes(total), 100*float64(done)/float64(total))
}

// mebibytes is the same as howFar for bars, which count in powers of two and
// have little room.
func mebibytes(done, total int64) string {
	unit, size := "MiB", float64(1<<20)
	if max(done, total) >= 1<<30 {
		unit, size = "GiB", 1<<30
	}
	if total < 0 {
		return fmt.Sprintf("%.1f %s", float64(done)/size, unit)
	}
	return fmt.Sprintf("%.1f/%.1f %s", float64(done)/size, float64(total)/size, unit)
}

// perSecond is a speed; 0 if it isn't known.
func perSecond(n int64, took time.Duration) int64 {
	if took <= 0 || n <= 0 {
		return 0
	}
	return int64(float64(n) / took.Seconds())
}

// seconds is how long something took, as exactly as a reader wants to know.
func seconds(took time.Duration) string {
	switch {
	case took < time.Second:
		return fmt.Sprintf("%dms", max(took, 0).Milliseconds())
	case took < time.Minute:
		return fmt.Sprintf("%.1fs", took.Truncate(time.Second/10).Seconds())
	default:
		return took.Round(time.Second).String()
	}
}
