package view

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/page"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// tally counts items by way.
type tally [ways]int

func tallyOf(items []*item) (n tally) {
	for _, w := range items {
		n[w.way]++
	}
	return n
}

// providers is the number of providers that have a package.
func (n tally) providers() int {
	return n[wasPresent] + n[fromCache] + n[fromLocal] + n[downloaded]
}

// text is the last line of a run: how many providers and modules there are, where they came from, and how long it took.
func (r *run) text(now time.Time) string {
	n := tallyOf(r.order)
	what, took := terminal.Count(n.providers(), "provider"), terminal.Seconds(now.Sub(r.began))
	if r.modules > 0 {
		what += ", " + terminal.Count(r.modules, "module")
	}
	if !r.changed && n[wasPresent] == n.providers() {
		return fmt.Sprintf("Checked %s in %s: nothing to do", what, took)
	}
	text := fmt.Sprintf("%s ready in %s", what, took)
	var parts terminal.Phrases
	parts.Add(n[downloaded], "%d downloaded (%s)", n[downloaded], r.sources())
	parts.Add(n[fromLocal], "%d from local directories", n[fromLocal])
	parts.Add(n[fromCache], "%d from the cache", n[fromCache])
	parts.Add(n[wasPresent], "%d in place already", n[wasPresent])
	parts.Add(n[moduleFetched], "%s fetched", terminal.Count(n[moduleFetched], "module"))
	if len(parts) > 0 {
		text += ": " + parts.String()
	}
	return text
}

// sources lists how much was downloaded from which source, the largest first.
func (r *run) sources() string {
	bytes := map[string]int64{}
	for _, w := range r.order {
		if w.way == downloaded {
			bytes[terminal.Printable(w.short)] += w.fetched
		}
	}
	names := slices.SortedFunc(maps.Keys(bytes), func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = terminal.Megabytes(bytes[name])
		if name != "" {
			names[i] += " from " + name
		}
	}
	return strings.Join(names, ", ")
}

// object is the last JSON object, which sums a run up.
func (r *run) object(code int) line {
	var bytes int64
	for _, w := range r.order {
		bytes += w.fetched
	}
	now, n := r.now(), tallyOf(r.order)
	text := r.text(now)
	switch {
	case r.errors > 0:
		text = fmt.Sprintf("Failed after %s: %s", terminal.Seconds(now.Sub(r.began)), terminal.Count(r.errors, "error"))
	case n.providers()+r.modules == 0:
		text = "Done in " + terminal.Seconds(now.Sub(r.began))
	}
	return line{json: text, kind: "summary", keys: result.Object{
		"started_at", result.Stamp(r.began), "ended_at", result.Stamp(now), "exit_code", code, "errors", r.errors, "warnings", r.warnings, "bytes", bytes,
		"changed", r.changed || n[wasPresent] < n.providers(),
		"providers", n.object(), "modules", n.modules(r.modules),
	}}
}

func (n tally) object() map[string]int {
	return map[string]int{
		"built_in": n[partOfProduct], "present": n[wasPresent], "linked": n[fromCache], "local": n[fromLocal], "downloaded": n[downloaded], "failed": n[didFail],
	}
}

func (n tally) modules(called int) map[string]int {
	return map[string]int{"called": called, "fetched": n[moduleFetched]}
}

// reportFormat is the version of the data in the page.
const reportFormat = 1

// addProblems counts the problems, and keeps for the page those that people see.
func (r *run) addProblems(problems problem.List) {
	for _, p := range explain.Ordered(problems) {
		if problem.IsWarning(p) {
			r.warnings++
		} else {
			r.errors++
		}
	}
	r.showing.Show(problems, func(p *problem.Problem, _ *explain.Snippet) int {
		if !r.problems.Knows(p) {
			r.problems.Add(p)
		}
		return len(p.Summary) + len(p.Detail)
	})
}

// ReportHead is what the page says about the whole run.
type ReportHead struct {
	Own       string // the version of tfdeps
	Directory string
	Failed    bool
}

// WriteReport writes the web page of the run so far: which queries, downloads and links were made, when, and how large they were. Tasks
// that are still running count as ended now.
func (v *Init) WriteReport(w io.Writer, head ReportHead) error {
	r, at := v.run, v.run.at()
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
		"format", reportFormat, "product", r.Product.Name + " " + r.Product.Version, "tfdeps", head.Own, "platform", getproviders.CurrentPlatform(),
		"directory", terminal.PrintableLine(head.Directory), "began", r.began.UTC(), "took", at, // milliseconds
		"failed", head.Failed, "rows", rows, "problems", result.Each(r.problems.All, func(p *problem.Problem) result.Object {
			shown := *p
			shown.Summary, shown.Detail = terminal.Printable(p.Summary), terminal.Printable(p.Detail)
			return result.NewProblem(&shown, nil)
		}),
	})
}
