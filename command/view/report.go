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
	"github.com/tfdeps/tfdeps/getproviders"
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

// addProblems takes note of what people are told.
func (r *run) addProblems(problems problem.List) {
	for _, p := range ordered(problems) {
		if problem.IsWarning(p) {
			r.warnings++
		} else {
			r.errors++
		}
	}
	r.quota.show(problems, func(p *problem.Problem) int {
		found := newJSONProblem(p, nil)
		if !slices.ContainsFunc(r.problems, func(other jsonProblem) bool {
			return other.Summary == found.Summary && other.Detail == found.Detail
		}) {
			r.problems = append(r.problems, found)
		}
		return len(found.Summary) + len(found.Detail)
	})
}

// ReportHead is what a page says of the run as a whole.
type ReportHead struct {
	Own       string // the version of tfdeps
	Directory string
	Failed    bool
}

// WriteReport writes the web page of the run so far: what was asked, fetched and linked, when, and how large it was.
func (v *Init) WriteReport(w io.Writer, head ReportHead) error { return v.run.write(w, head) }

// write writes the page. What is still open counts as ended now.
func (r *run) write(w io.Writer, head ReportHead) error {
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
		Rows      []item        `json:"rows"`
		Problems  []jsonProblem `json:"problems"`
	}{
		reportFormat, r.product.Name + " " + r.product.Version, head.Own, getproviders.CurrentPlatform().String(), printableLine(head.Directory),
		r.began.UTC(), at, head.Failed, []item{}, orEmpty(r.problems),
	}
	for _, w := range r.order {
		if w.Outcome == "" {
			w.enter("", at)
		}
		row := *w
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
