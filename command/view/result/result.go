// Package result makes the reports of commands, as text for people and as JSON for programs.
package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Result is the report of a command in both forms, each of which may be empty: people may have seen it before, or see
// problems instead.
type Result struct {
	People   string
	Programs any // nil means an empty object. Write adds the data of the Run to an Object
}

// resultFormat is the version of the reports: additions increment the number after the dot,
// changes the one before it.
const resultFormat = "1.0"

// Write writes a report for people or for programs.
func Write(w io.Writer, r *Result, asJSON bool, run Run) error {
	if asJSON {
		report := r.Programs
		if o, ok := report.(Object); ok || report == nil {
			report = slices.Concat(Object{"format_version", resultFormat}, o, run.Object())
		}
		encoded, err := wholefile.JSON(report) // on several lines; ">" isn't escaped, as in constraints
		if err == nil {
			_, err = w.Write(terminal.PrintableJSON(encoded))
		}
		return err
	}
	if r.People == "" { // an empty write to a closed pipe would be an error
		return nil
	}
	_, err := io.WriteString(w, r.People)
	return err
}

// Run is the data about the run in each report for programs.
type Run struct {
	Begun, Ended time.Time
	Problems     problem.List // errors and warnings, in any order
	Showing      explain.Showing
}

// Table returns rows of text for people, with aligned columns.
func Table(rows [][]string) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(Each(row, terminal.PrintableLine), "\t"))
	}
	_ = table.Flush() // can't fail: it writes to memory
	lines := strings.Split(b.String(), "\n")
	return strings.Join(Each(lines, func(l string) string { return strings.TrimRight(l, " ") }), "\n") // the last columns may be empty
}

// Object returns the keys at the end of each report.
func (run Run) Object() Object {
	told := []Object{}
	run.Showing.Show(explain.Ordered(run.Problems), func(p *problem.Problem, source *explain.Snippet) int {
		told = append(told, NewProblem(p, source))
		encoded, _ := json.Marshal(told[len(told)-1])
		return len(encoded)
	})
	return Object{"started_at", Stamp(run.Begun), "ended_at", Stamp(run.Ended), "diagnostics", told}
}

// Object is an object in JSON: keys, each followed by its value, in the order in which they are written. If a key ends
// in "?", a zero or empty value is left out; if it ends in "|null", a zero value is null. A nil list is an empty one.
type Object []any

// MarshalJSON implements json.Marshaler. It doesn't escape ">", as in constraints.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	b.WriteByte('{')
	for i := 0; i < len(o); i += 2 {
		key, optional := strings.CutSuffix(o[i].(string), "?")
		key, nullable := strings.CutSuffix(key, "|null")
		value, v := o[i+1], reflect.ValueOf(o[i+1])
		isZero, isList := v.IsValid() && v.IsZero(), v.Kind() == reflect.Slice
		switch {
		case optional && (isZero || isList && v.Len() == 0):
			continue
		case nullable && isZero:
			value = nil
		case isList && isZero:
			value = []any{}
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":`)
		if err := out.Encode(value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Sorted returns the object with its keys sorted.
func (o Object) Sorted() Object {
	pairs := slices.Collect(slices.Chunk(o, 2))
	slices.SortFunc(pairs, func(a, b Object) int { return strings.Compare(a[0].(string), b[0].(string)) })
	return slices.Concat(pairs...)
}

// about returns the keys that identify a package. There is no version before one is chosen.
func about(p providercache.Outcome) Object {
	return Object{"address", p.Provider, "version?", p.Version, "platform", p.Platform}
}

// sum counts packages by their outcome.
type sum struct {
	done, present, failed int
	bytes                 int64 // of the archives of done packages
}

func sumOf(packages []providercache.Outcome) (s sum) {
	for _, p := range packages {
		switch {
		case p.Err != nil:
			s.failed++
		case p.State == event.Present:
			s.present++
		default:
			s.done++
			s.bytes += p.Bytes
		}
	}
	return s
}

// object returns the sum; done is the key of the done packages.
func (s sum) object(done string) Object {
	return Object{done, s.done, "present", s.present, "failed", s.failed, "bytes", s.bytes}
}

// StampFormat is RFC 3339 with microseconds.
const StampFormat = "2006-01-02T15:04:05.000000Z07:00"

// Span is when the work on a package began and ended; zero without any work.
type Span struct{ Begun, Ended time.Time }

// Stamp returns a time in UTC.
func Stamp(at time.Time) string { return at.UTC().Format(StampFormat) }

// Object returns the keys for the known times.
func (s Span) Object() (o Object) {
	if !s.Begun.IsZero() {
		o = Object{"started_at", Stamp(s.Begun)}
	}
	if !s.Ended.IsZero() {
		o = append(o, "ended_at", Stamp(s.Ended))
	}
	return o
}

// ErrorObject returns the keys for an error, or nil without one.
func ErrorObject(err error) Object {
	if err == nil {
		return nil
	}
	return Object{"error", err.Error(), "code", explain.CodeOf(problem.Because(err, &problem.Problem{}))}
}

// Each maps a list to another, which isn't nil, so that it is never null in JSON.
func Each[T, U any](list []T, of func(T) U) []U {
	all := []U{}
	for _, item := range list {
		all = append(all, of(item))
	}
	return all
}

// byProvider groups packages, which are sorted by provider.
func byProvider(packages []providercache.LockedPackage) (groups [][]providercache.LockedPackage) {
	for i, p := range packages {
		if i == 0 || p.Provider != packages[i-1].Provider {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
	}
	return groups
}

// tallied counts packages by finding.
func tallied[P any, K ~string](packages []P, finding func(P) K) map[K]int {
	counts := map[K]int{}
	for _, p := range packages {
		counts[finding(p)]++
	}
	return counts
}

// NewProblem returns the object for a problem from [explain.Showing]. The keys are in Terraform's order, which has no code.
func NewProblem(p *problem.Problem, source *explain.Snippet) Object {
	var place, snippet Object
	if p.Subject != nil {
		r := explain.Visible(*p.Subject)
		place = Object{"filename", r.Filename, "start", position(r.Start), "end", position(r.End)}
	}
	if source != nil && source.Found {
		snippet = Object{
			"context|null", source.Context, "code", source.Code, "start_line", source.StartLine,
			"highlight_start_offset", source.From, "highlight_end_offset", source.To, "values", []any{}, // of expressions, which tfdeps doesn't evaluate
		}
	}
	return Object{"severity", strings.ToLower(explain.SeverityName(p.Severity)), "summary", p.Summary, "detail", p.Detail, "range?", place, "snippet?", snippet, "code?", explain.CodeOf(p)}
}

func position(at hcl.Pos) Object {
	return Object{"line", at.Line, "column", at.Column, "byte", at.Byte}
}
