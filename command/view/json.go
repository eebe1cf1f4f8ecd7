package view

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// jsonPrinter prints for programs: one object a line, with sorted keys.
type jsonPrinter struct {
	out     terminal.Stream
	product getproviders.Product
	now     func() time.Time
	showing explain.Showing
	several *directories
}

func newJSONPrinter(o Options) *jsonPrinter {
	return &jsonPrinter{out: o.Stdout, product: o.Product, now: o.Now, showing: o.Showing, several: &directories{}}
}

func (j *jsonPrinter) line(l line) {
	more := result.Object{"source?", l.source}
	switch {
	case l.json == "":
	case l.kind != "":
		j.write("info", l.json, l.kind, l.keys)
	case explain.SpeechOf(j.product).Untyped: // the object has neither type nor code, and the text for people
		text, level := oneLine(l.json), "info"
		if l.item && !l.ownJSON {
			text = l.human
		}
		if l.warning {
			level = "warn"
		}
		j.write(level, text, "", more)
	case l.code != "":
		j.write("info", l.json, "init_output", result.Object{"message_code", l.code})
	default:
		j.write("info", l.json, "log", more)
	}
}

func (j *jsonPrinter) Problems(all problem.List) {
	j.showing.Show(explain.ByModules(all), j.problem)
}

// problem returns how many bytes it printed.
func (j *jsonPrinter) problem(p *problem.Problem, source *explain.Snippet) int {
	if problem.IsIntroduction(p) {
		return j.write("error", oneLine(p.Summary), "", nil)
	}
	level := "error"
	if problem.IsWarning(p) {
		level = "warn"
	}
	return j.write(level, explain.SeverityName(p.Severity)+": "+p.Summary, "diagnostic", result.Object{
		"diagnostic", result.NewProblem(p, source),
	})
}

func (j *jsonPrinter) write(level, text, kind string, more result.Object) (n int) {
	object := result.Object{
		"directory?", j.several.now, "@level", level, "@message", text, "@module", j.product.Program + ".ui", "@timestamp", j.now().Format(result.StampFormat), "type?", kind,
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(append(object, more...).Sorted()); err != nil {
		return 0 // can't happen: strings, numbers and structs of these always encode
	}
	n, _ = j.out.Write(terminal.PrintableJSON(b.Bytes())) // in one write, so that lines of two writers don't mix
	return n
}

// jsonInterval is the minimum time between two objects of one download, and before the
// first. A shorter download has no objects: its lines of the type log are enough.
const jsonInterval = time.Second

// jsonDisplay shows downloads to programs, by objects of a type that
// Terraform doesn't have. They are printed at once; the lines of the type log about the
// same provider may be printed later, because these are sorted.
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
	object := result.Object{"provider", t.Key.Provider, "version", t.Key.Version, "done", t.Done}
	if t.Total >= 0 {
		object = append(object, "total", t.Total)
	}
	j.out.write("info", t.Name+": "+terminal.HowFar(t.Done, t.Total), "download_progress", object)
}
