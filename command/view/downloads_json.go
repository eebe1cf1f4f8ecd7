package view

import (
	"time"
)

// jsonInterval is how often at most programs are told of one download. The
// first time is when it has lasted as long: a short one is none to wait for,
// and its lines of the type log say all there is to say.
const jsonInterval = time.Second

// jsonDisplay shows downloads to programs, by objects of a type that the real
// tool hasn't. They come when it happens; the lines of the type log about the
// same provider may come later, as those are put in order.
type jsonDisplay struct {
	out  *jsonPrinter
	told map[*download]time.Time
}

func (j *jsonDisplay) update(d *download) {
	before, ok := j.told[d]
	if !ok {
		before = d.begun
	}
	if d.last.Sub(before) < jsonInterval {
		return
	}
	j.told[d] = d.last
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

func (j *jsonDisplay) drop(d *download) { delete(j.told, d) }

func (j *jsonDisplay) close() { clear(j.told) }
