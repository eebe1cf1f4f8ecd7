package view

import (
	"time"

	"github.com/tfdeps/tfdeps/providercache/event"
)

// jsonInterval is the least time between two events of one download. The
// first time is when it has lasted as long: a short one is none to wait for,
// and its lines of the type log say all there is to say.
const jsonInterval = time.Second

// lastTimes are when downloads were reported last.
type lastTimes map[*task]time.Time

// jsonDisplay shows downloads to programs, by objects of a type that
// Terraform doesn't have. They come when it happens; the lines of the type log about the
// same provider may come later, as those are put in order.
type jsonDisplay struct {
	hidden
	out  *jsonPrinter
	last lastTimes
}

func (j *jsonDisplay) update(t *task) {
	before, ok := j.last[t]
	if !ok {
		before = t.begun
	}
	if t.last.Sub(before) < jsonInterval || t.phase != event.Downloading || t.key.module != "" {
		return
	}
	j.last[t] = t.last
	object := map[string]any{
		"provider": t.key.provider.String(),
		"version":  t.key.version.String(),
		"done":     t.done,
	}
	if t.total >= 0 {
		object["total"] = t.total
	}
	j.out.write("info", t.name+": "+howFar(t.done, t.total), "download_progress", object)
}

func (j *jsonDisplay) finish(t *task, _ *tasks) { j.drop(t) }

func (j *jsonDisplay) drop(t *task) { delete(j.last, t) }

func (j *jsonDisplay) close() { clear(j.last) }
