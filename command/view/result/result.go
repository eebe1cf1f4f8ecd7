// Package result has what commands found out or did, as text for people and as JSON for programs.
package result

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Result is what a command found out or did, in both forms, each of which may be empty: people were told before, or see the
// problems of a run that found out nothing.
type Result struct {
	People   string
	Programs any // nil: an empty object. With an object is written, too, what the run says of itself
}

// resultFormat is the version of the reports: a number after the dot that is greater means
// additions, one before it a change.
const resultFormat = "1.0"

// Write writes a report for people or for programs.
func Write(w io.Writer, r *Result, asJSON bool, run Run) error {
	if asJSON {
		report := r.Programs
		if o, ok := report.(Object); ok || report == nil {
			report = slices.Concat(Object{"format_version", resultFormat}, o, run.Object())
		}
		encoded, err := wholefile.JSON(report) // over several lines; constraints such as ">= 1.0" stay readable
		if err == nil {
			_, err = w.Write(terminal.PrintableJSON(encoded))
		}
		return err
	}
	text := explain.Named(r.People, run.Showing.Called)
	if text == "" { // who reads a pipe may have ended already
		return nil
	}
	_, err := io.WriteString(w, text)
	return err
}

// Run is what each report for programs says of the run that made it.
type Run struct {
	Begun, Ended time.Time
	Problems     problem.List // errors and warnings, in any order
	Showing      explain.Showing
}

// Table is rows of text for people, with the columns below each other.
func Table(rows [][]string) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(Each(row, terminal.PrintableLine), "\t"))
	}
	_ = table.Flush() // to memory
	lines := strings.Split(b.String(), "\n")
	return strings.Join(Each(lines, func(l string) string { return strings.TrimRight(l, " ") }), "\n") // after columns, of which the last ones are empty
}

// Object is the end of each report.
func (run Run) Object() Object {
	told := []Object{}
	run.Showing.Show(explain.Ordered(run.Problems), func(p *problem.Problem, source *explain.Snippet) int {
		told = append(told, NewProblem(p, source))
		encoded, _ := json.Marshal(told[len(told)-1])
		return len(encoded)
	})
	return Object{"started_at", Stamp(run.Begun), "ended_at", Stamp(run.Ended), "diagnostics", told}
}
