package view

import (
	_ "embed"
	"io"
	"slices"

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
		found := result.NewProblem(p, nil, r.called)
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
	rows := []item{}
	for _, w := range r.order {
		if w.Outcome == "" {
			w.enter("", at)
		}
		row := *w
		if w.directory != "" {
			row.Name = w.directory + ": " + row.Name
		}
		for _, text := range []*string{&row.Name, &row.Version, &row.Source, &row.Trust, &row.Error} {
			*text = terminal.PrintableLine(*text)
		}
		rows = append(rows, row)
	}
	return page.Write(w, result.Object{
		"format", reportFormat, "product", r.product.Name + " " + r.product.Version, "tfdeps", head.Own, "platform", getproviders.CurrentPlatform(),
		"directory", terminal.PrintableLine(head.Directory), "began", r.began.UTC(), "took", at, // milliseconds
		"failed", head.Failed, "rows", rows, "problems", result.Each(r.problems, func(p result.Problem) result.Problem {
			p.Summary, p.Detail = terminal.Printable(p.Summary), terminal.Printable(p.Detail)
			return p
		}),
	})
}
