package view

import (
	"time"

	"github.com/tfdeps/tfdeps/command/view/terminal"
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

func (j *jsonDisplay) Show(t *terminal.Task, _ *terminal.Tasks) {
	if t.Told.IsZero() {
		t.Told = t.Begun
	}
	if t.Over || t.Last.Sub(t.Told) < jsonInterval || t.Phase != event.Downloading || t.Key.Module != "" {
		return
	}
	t.Told = t.Last
	object := map[string]any{
		"provider": t.Key.Provider.String(),
		"version":  t.Key.Version.String(),
		"done":     t.Done,
	}
	if t.Total >= 0 {
		object["total"] = t.Total
	}
	j.out.write("info", t.Name+": "+terminal.HowFar(t.Done, t.Total), "download_progress", object)
}
