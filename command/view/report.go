package view

import (
	_ "embed"
	"io"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/page"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// reportFormat is the version of the data in the page.
const reportFormat = 1

// addProblems takes note of what people are told.
func (r *run) addProblems(problems problem.List) {
	for _, p := range explain.Ordered(problems) {
		if problem.IsWarning(p) {
			r.warnings++
		} else {
			r.errors++
		}
	}
	r.quota.Show(problems, func(p *problem.Problem) int {
		found := result.NewProblem(p, nil)
		if !slices.ContainsFunc(r.problems, func(other result.Problem) bool {
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

// write writes the page. What is still open counts as ended now.
func (r *run) write(w io.Writer, head ReportHead) error {
	at := r.at()
	data := struct {
		Format    int              `json:"format"`
		Product   string           `json:"product"`
		Own       string           `json:"tfdeps"`
		Platform  string           `json:"platform"`
		Directory string           `json:"directory"`
		Began     time.Time        `json:"began"`
		Took      float64          `json:"took"` // milliseconds
		Failed    bool             `json:"failed"`
		Rows      []item           `json:"rows"`
		Problems  []result.Problem `json:"problems"`
	}{
		reportFormat, r.product.Name + " " + r.product.Version, head.Own, getproviders.CurrentPlatform().String(), terminal.PrintableLine(head.Directory),
		r.began.UTC(), at, head.Failed, []item{}, result.OrEmpty(r.problems),
	}
	for _, w := range r.order {
		if w.Outcome == "" {
			w.enter("", at)
		}
		row := *w
		for _, text := range []*string{&row.Name, &row.Version, &row.Source, &row.Trust, &row.Error} {
			*text = terminal.PrintableLine(*text)
		}
		data.Rows = append(data.Rows, row)
	}
	for i := range data.Problems {
		p := &data.Problems[i]
		p.Summary, p.Detail = terminal.Printable(p.Summary), terminal.Printable(p.Detail)
	}
	return page.Write(w, data)
}
