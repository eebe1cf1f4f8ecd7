package view

import (
	"time"

	"github.com/tfdeps/tfdeps/providercache/event"
)

// jsonInterval is the least time between two events of one download. The
// first time is when it has lasted as long: a short one is none to wait for,
// and its lines of the type log say all there is to say.
const jsonInterval = time.Second

// jsonDisplay shows downloads to programs, by objects of a type that
// Terraform doesn't have. They come when it happens; the lines of the type log about the
// same provider may come later, as those are put in order.
type jsonDisplay struct {
	hidden
	out *jsonPrinter
}

func (j *jsonDisplay) show(t *task, _ *tasks) {
	if t.told.IsZero() {
		t.told = t.begun
	}
	if t.over || t.last.Sub(t.told) < jsonInterval || t.phase != event.Downloading || t.key.module != "" {
		return
	}
	t.told = t.last
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
