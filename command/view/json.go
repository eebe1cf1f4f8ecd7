package view

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// The versions of the language of these JSON lines. What stands in them is what Terraform
// and OpenTofu of that version say, too; additions are additional keys.
const (
	uiVersion         = "1.3"
	uiVersionOpenTofu = "1.2"
)

// stampFormat is RFC 3339 with microseconds.
const stampFormat = "2006-01-02T15:04:05.000000Z07:00"

// jsonPrinter speaks to programs: one object a line, its keys sorted.
type jsonPrinter struct {
	out     Stream
	product getproviders.Product
	now     func() time.Time
	sources sources
	quota   quota
}

// asOpenTofu reports whether lines are OpenTofu's: those of init have neither type nor code, and the
// words that people read.
func (j *jsonPrinter) asOpenTofu() bool { return j.product.Predecessor != nil }

func (j *jsonPrinter) version(own, because string) {
	ui := uiVersion
	if j.asOpenTofu() {
		ui = uiVersionOpenTofu
	}
	j.write("info", j.product.Name+" "+j.product.Version, "version", map[string]any{
		j.product.Program: j.product.Version,
		"tfdeps":          own,
		"because":         because,
		"ui":              ui,
	})
}

func (j *jsonPrinter) message(m message) {
	if j.asOpenTofu() {
		text := oneLine(m.text)
		if m.code == backendConfigured.code {
			text = strings.TrimSuffix(text, ".")
		}
		j.write("info", text, "", nil)
		return
	}
	j.write("info", m.text, "init_output", map[string]any{"message_code": m.code})
}

func (j *jsonPrinter) line(l line) {
	if l.json == "" {
		return
	}
	var more map[string]any
	if l.source != "" {
		more = map[string]any{"source": l.source}
	}
	if !j.asOpenTofu() {
		j.write("info", l.json, "log", more)
		return
	}
	text, level := oneLine(l.json), "info"
	if own, ok := strings.CutPrefix(l.human, "- "); ok && !l.ownJSON {
		text = own
	}
	if l.warning {
		level = "warn"
	}
	j.write(level, text, "", more)
}

// oneLine is text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// gap says nothing: programs need no room.
func (j *jsonPrinter) gap() {}

func (j *jsonPrinter) problems(all problem.List) {
	j.quota.show(byModules(all), j.problem)
}

// problem returns how many bytes it has printed.
func (j *jsonPrinter) problem(p *problem.Problem) int {
	if problem.IsIntroduction(p) {
		return j.write("error", oneLine(p.Summary), "", nil)
	}
	level := "error"
	if p.Severity == hcl.DiagWarning {
		level = "warn"
	}
	return j.write(level, severityName(p.Severity)+": "+p.Summary, "diagnostic", map[string]any{
		"diagnostic": newJSONProblem(p, j.sources.snippet(p)),
	})
}

func (j *jsonPrinter) write(level, text, kind string, more map[string]any) (n int) {
	object := map[string]any{
		"@level":     level,
		"@message":   text,
		"@module":    j.product.Program + ".ui",
		"@timestamp": j.now().Format(stampFormat),
	}
	if kind != "" {
		object["type"] = kind
	}
	maps.Copy(object, more)
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(object); err != nil {
		return 0 // strings, numbers and structs of them always encode
	}
	n, _ = j.out.Write(PrintableJSON(b.Bytes())) // in one piece, so that lines of two writers don't mix
	return n
}

// jsonProblem is a problem in JSON; the order of the keys is Terraform's.
type jsonProblem struct {
	Severity string       `json:"severity"`
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Range    *jsonRange   `json:"range,omitempty"`
	Snippet  *jsonSnippet `json:"snippet,omitempty"`
	Code     string       `json:"code,omitempty"` // which Terraform doesn't have
}

type jsonRange struct {
	Filename string  `json:"filename"`
	Start    jsonPos `json:"start"`
	End      jsonPos `json:"end"`
}

type jsonPos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

type jsonSnippet struct {
	Context   *string    `json:"context"`
	Code      string     `json:"code"`
	StartLine int        `json:"start_line"`
	From      int        `json:"highlight_start_offset"`
	To        int        `json:"highlight_end_offset"`
	Values    []struct{} `json:"values"` // of expressions; nothing here evaluates any
}

func newJSONProblem(p *problem.Problem, source *snippet) jsonProblem {
	out := jsonProblem{Severity: "error", Summary: p.Summary, Detail: detail(p), Code: codeOf(p)}
	if p.Severity == hcl.DiagWarning {
		out.Severity = "warning"
	}
	if p.Subject != nil {
		r := visible(*p.Subject)
		out.Range = &jsonRange{r.Filename, jsonPos(r.Start), jsonPos(r.End)}
	}
	if source != nil && source.found {
		out.Snippet = &jsonSnippet{
			Code: source.code, StartLine: source.startLine,
			From: source.from, To: source.to, Values: []struct{}{},
		}
		if source.context != "" {
			out.Snippet.Context = &source.context
		}
	}
	return out
}
