package view

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Result is what a command found out or did, for people and for programs.
type Result interface {
	// Text is the report for people.
	Text() string
	// JSON is the report for programs: an object, in which what the run says of itself is put last.
	JSON() any
}

// Whole is a report for programs in a format of others: the run says nothing of itself in it.
type Whole struct{ Report any }

// resultFormat is the version of the reports: a number after the dot that is greater means
// additions, one before it a change.
const resultFormat = "1.0"

// Write writes a report for people or for programs.
func Write(w io.Writer, r Result, asJSON bool, run Run) error {
	if asJSON {
		if whole, ok := r.JSON().(Whole); ok {
			return writeReport(w, whole.Report)
		}
		return writeReport(w, struct {
			Format string `json:"format_version"`
		}{resultFormat}, r.JSON(), newJSONRun(run))
	}
	text := r.Text()
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
	// ReadFile gets the source file that a problem is about; nil: no source is shown.
	ReadFile func(name string) ([]byte, error)
}

// NoResult is the report of a command that found out nothing, because of the problems of its run.
type NoResult struct{}

// Text writes nothing: people see the problems.
func (NoResult) Text() string { return "" }

// JSON has nothing beside what every report has.
func (NoResult) JSON() any { return nil }

// jsonRun is the end of each report.
type jsonRun struct {
	StartedAt   string        `json:"started_at"`
	EndedAt     string        `json:"ended_at"`
	Diagnostics []jsonProblem `json:"diagnostics"`
}

func newJSONRun(run Run) jsonRun {
	out := jsonRun{StartedAt: stamp(run.Begun), EndedAt: stamp(run.Ended), Diagnostics: []jsonProblem{}}
	source := sources{read: run.ReadFile}
	new(quota).show(ordered(run.Problems), func(p *problem.Problem) int {
		told := newJSONProblem(p, source.snippet(p))
		out.Diagnostics = append(out.Diagnostics, told)
		encoded, _ := json.Marshal(told)
		return len(encoded)
	})
	return out
}

// Span is when the work on a package began and ended; zero where nothing was to be done.
type Span struct{ Begun, Ended time.Time }

// jsonSpan is a span, which adds no key where nothing was to be done.
type jsonSpan struct {
	StartedAt string `json:"started_at,omitempty"`
	EndedAt   string `json:"ended_at,omitempty"`
}

func newJSONSpan(s Span) (out jsonSpan) {
	if !s.Begun.IsZero() {
		out.StartedAt = stamp(s.Begun)
	}
	if !s.Ended.IsZero() {
		out.EndedAt = stamp(s.Ended)
	}
	return out
}

// addTo adds when something began and ended to an object, as far as it is known.
func (s Span) addTo(keys map[string]any) {
	if !s.Begun.IsZero() {
		keys["started_at"] = stamp(s.Begun)
	}
	if !s.Ended.IsZero() {
		keys["ended_at"] = stamp(s.Ended)
	}
}

// jsonPackage says which package something is about.
type jsonPackage struct {
	Address  getproviders.Provider `json:"address"`
	Version  getproviders.Version  `json:"version,omitzero"` // none: it wasn't chosen yet
	Platform getproviders.Platform `json:"platform"`
}

func selected(s resolve.Selection, platform getproviders.Platform) jsonPackage {
	return jsonPackage{s.Provider, s.Version, platform}
}

// known is a number of bytes, null where it isn't known.
func known(bytes int64) *int64 {
	if bytes <= 0 {
		return nil
	}
	return &bytes
}

// jsonFailure says why something isn't there.
type jsonFailure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// newJSONFailure returns nil, which adds no key, if there is no error.
func newJSONFailure(err error) *jsonFailure {
	if err == nil {
		return nil
	}
	return &jsonFailure{err.Error(), codeOf(problem.Because(err, &problem.Problem{}))}
}

// stamp is a moment, in UTC.
func stamp(at time.Time) string { return at.UTC().Format(stampFormat) }

// ordered are problems as they are shown: first those that belong to no file, in the order
// given, then the others by file and position, each of them once.
func ordered(problems problem.List) problem.List {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	return slices.CompactFunc(sorted, sameProblem)
}

// writeReport writes JSON over several lines; objects, of which some may be nil, become one. Constraints such as ">= 1.0" stay
// readable.
func writeReport(w io.Writer, parts ...any) error {
	var lines, b bytes.Buffer
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for _, part := range parts {
		if part == nil {
			continue
		}
		if err := out.Encode(part); err != nil {
			return err
		}
	}
	one := bytes.ReplaceAll(lines.Bytes(), []byte("}\n{"), []byte(","))
	if err := json.Indent(&b, one, "", "  "); err != nil {
		return err
	}
	_, err := w.Write(PrintableJSON(b.Bytes()))
	return err
}

// each makes a list of another, which is never null in JSON.
func each[T, U any](list []T, of func(T) U) []U {
	all := []U{}
	for _, item := range list {
		all = append(all, of(item))
	}
	return all
}

// orEmpty keeps null out of JSON.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

// jsonFindings counts packages, and those of each finding that there is.
type jsonFindings struct {
	Packages int            `json:"packages"`
	Findings map[string]int `json:"findings"`
}

func findings[P any](packages []P, of func(P) string) jsonFindings {
	sum := jsonFindings{len(packages), map[string]int{}}
	for _, p := range packages {
		sum.Findings[of(p)]++
	}
	return sum
}
