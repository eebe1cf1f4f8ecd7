package view

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// The page of a run: its text, how it looks, and what draws it from the data. Package
// html/template would cost 9 MB of the program (see CONTRIBUTING.md), so the data is in the page as
// JSON without "<", and the script makes texts of it and nothing else.
var (
	//go:embed report/page.html
	reportPage string
	//go:embed report/page.css
	reportStyle string
	//go:embed report/page.js
	reportScript string
)

// reportFormat is the version of the data in the page.
const reportFormat = 1

// Report is the web page of a run of init: what was asked, fetched and linked, when, and how large
// it was. It knows that from events alone. A nil Report takes note of nothing. It is for one
// goroutine at a time.
type Report struct {
	now      func() time.Time
	product  getproviders.Product
	began    time.Time
	rows     map[string]*reportRow // by address, or by the key of a module
	order    []string
	problems []jsonProblem
}

// Report is the page of the run so far, if Options.Report asked for it; else nil.
func (v *Init) Report() *Report { return v.report }

// newReport begins to take note, if that is asked for; else it returns nil.
func newReport(o Options) *Report {
	if !o.Report {
		return nil
	}
	return &Report{now: o.Now, product: o.Product, began: o.Now(), rows: map[string]*reportRow{}}
}

// reportRow is what happened to a provider or a module.
type reportRow struct {
	Kind    string       `json:"kind"` // "provider" or "module"
	Name    string       `json:"name"`
	Version string       `json:"version,omitempty"`
	Outcome string       `json:"outcome,omitempty"` // "fetched", "linked", "present", "built in", "overridden", "failed"; "": it didn't end
	How     string       `json:"how,omitempty"`     // the link mode
	Source  string       `json:"source,omitempty"`
	Trust   string       `json:"trust,omitempty"`
	Bytes   int64        `json:"bytes,omitempty"` // of the archive, as far as it is here
	Came    int64        `json:"came,omitempty"`  // bytes over the network: less if an earlier run had kept some
	Error   string       `json:"error,omitempty"`
	Spans   []reportSpan `json:"spans"`

	open  map[string]float64 // when a span began that hasn't ended
	heard bool               // how far the download is was told
}

// advance records how far a download is. The first time it is what was here already; less than before means that all
// comes again.
func (w *reportRow) advance(done int64) {
	switch {
	case !w.heard:
		w.heard = true
	case done < w.Bytes:
		w.Came += done
	default:
		w.Came += done - w.Bytes
	}
	w.Bytes = done
}

// phaseSpans are the spans of the phases of package event.
var phaseSpans = [...]string{event.Downloading: "fetch", event.Unpacking: "unpack", event.Verifying: "read", event.Linking: "link"}

// reportSpan is a part of the time. From and To are milliseconds since the beginning of the run.
type reportSpan struct {
	What string  `json:"what"` // "ask", "read", "fetch", "unpack", "link"; "done" is a moment
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// at is the present, in milliseconds since the beginning.
func (r *Report) at() float64 { return float64(r.now().Sub(r.began).Microseconds()) / 1000 }

func (r *Report) row(kind, name string) *reportRow {
	key := kind + " " + name
	if r.rows[key] == nil {
		r.rows[key] = &reportRow{Kind: kind, Name: name, open: map[string]float64{}, Spans: []reportSpan{}}
		r.order = append(r.order, key)
	}
	return r.rows[key]
}

// begin opens a span, unless it is open.
func (w *reportRow) begin(what string, at float64) {
	if _, open := w.open[what]; !open {
		w.open[what] = at
	}
}

// end closes a span that is open.
func (w *reportRow) end(what string, at float64) {
	if from, open := w.open[what]; open {
		w.Spans = append(w.Spans, reportSpan{what, from, at})
		delete(w.open, what)
	}
}

// enter ends what is done to the package, and begins something else; "": nothing.
func (w *reportRow) enter(what string, at float64) {
	for _, other := range []string{"read", "fetch", "unpack", "link"} {
		if other != what {
			w.end(other, at)
		}
	}
	if what != "" {
		w.begin(what, at)
	}
}

// finish ends all that is open, and says what became of it.
func (w *reportRow) finish(outcome string, at float64) {
	w.enter("", at)
	w.end("ask", at)
	if w.Outcome = outcome; outcome != "" {
		w.Spans = append(w.Spans, reportSpan{"done", at, at})
	}
}

// observe is for the events of providers.
func (r *Report) observe(e event.Event) {
	if r == nil || e.Provider() == (getproviders.Provider{}) {
		return
	}
	row, at := r.row("provider", r.product.Short(e.Provider())), r.at()
	switch e := e.(type) {
	case event.BuiltInEvent:
		row.finish("built in", at)
	case event.QueryEvent:
		row.begin("ask", at)
	case event.SelectedEvent:
		row.Version = e.Version.String()
		row.end("ask", at)
	case event.HashingEvent:
		row.enter("read", at)
	case event.FetchingEvent:
		row.Source = e.Source
		row.enter("fetch", at)
	case event.ProgressEvent:
		row.advance(e.Done)
	case event.PhaseEvent:
		row.enter(phaseSpans[e.Phase], at)
	case event.FetchedEvent:
		row.Source, row.Trust, row.How = e.Source, e.Authentication.TrustLevel.String(), e.Link.String()
		if e.Link == 0 {
			row.How = ""
		}
		row.finish("fetched", at)
	case event.LinkedEvent:
		row.How, row.Trust = e.Link.String(), e.Authentication.TrustLevel.String()
		row.Source = "shared cache"
		row.finish("linked", at)
	case event.PresentEvent:
		row.finish("present", at)
	case event.FailedEvent:
		row.Error = oneLine(withHint(e.Err))
		row.finish("failed", at)
	}
}

// overridden is for a provider that comes by other means than a package.
func (r *Report) overridden(p getproviders.Provider, by string) {
	if r == nil {
		return
	}
	row := r.row("provider", r.product.Short(p))
	row.Source = by
	row.finish("overridden", r.at())
}

// observeModules is for the events of modules.
func (r *Report) observeModules(e modules.Event) {
	if r == nil {
		return
	}
	switch e := e.(type) {
	case modules.Downloading:
		row := r.row("module", e.Key)
		row.Source, row.Version = e.Package, e.Version
		row.begin("fetch", r.at())
	case modules.Recorded:
		if row := r.rows["module "+e.Key]; row != nil {
			row.finish("fetched", r.at())
		}
	}
}

// addProblems takes note of what people are told.
func (r *Report) addProblems(problems problem.List) {
	if r == nil {
		return
	}
	for _, p := range problems {
		if found := newJSONProblem(p, nil); !slices.ContainsFunc(r.problems, func(other jsonProblem) bool {
			return other.Summary == found.Summary && other.Detail == found.Detail
		}) {
			r.problems = append(r.problems, found)
		}
	}
}

// ReportHead is what a page says of the run as a whole.
type ReportHead struct {
	Own       string // the version of tfdeps
	Directory string
	Failed    bool
}

// Write writes the page. What is still open counts as ended now.
func (r *Report) Write(w io.Writer, head ReportHead) error {
	at := r.at()
	data := struct {
		Format    int           `json:"format"`
		Product   string        `json:"product"`
		Own       string        `json:"tfdeps"`
		Platform  string        `json:"platform"`
		Directory string        `json:"directory"`
		Began     time.Time     `json:"began"`
		Took      float64       `json:"took"` // milliseconds
		Failed    bool          `json:"failed"`
		Rows      []*reportRow  `json:"rows"`
		Problems  []jsonProblem `json:"problems"`
	}{
		reportFormat, r.product.Name + " " + r.product.Version, head.Own, getproviders.CurrentPlatform().String(), printableLine(head.Directory),
		r.began.UTC(), at, head.Failed, []*reportRow{}, orEmpty(r.problems),
	}
	for _, key := range r.order {
		row := r.rows[key]
		if row.Outcome == "" {
			row.finish("", at)
		}
		for _, text := range []*string{&row.Name, &row.Version, &row.Source, &row.Trust, &row.Error} {
			*text = printableLine(*text)
		}
		data.Rows = append(data.Rows, row)
	}
	for i := range data.Problems {
		p := &data.Problems[i]
		p.Summary, p.Detail = Printable(p.Summary), Printable(p.Detail)
	}
	encoded, err := json.Marshal(data) // which writes "<" as \u003c, so that nothing ends the element
	if err != nil {
		return err
	}
	// Of scripts, the browser runs only the one with this hash.
	sum := sha256.Sum256([]byte(reportScript))
	page := strings.NewReplacer(
		"/*STYLE*/", reportStyle, "/*SCRIPT*/", reportScript, "HASH", base64.StdEncoding.EncodeToString(sum[:]),
		"/*DATA*/", string(bytes.ToValidUTF8(PrintableJSON(encoded), []byte("?"))),
	).Replace(reportPage)
	_, err = io.WriteString(w, page)
	return err
}
