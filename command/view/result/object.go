package result

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Object is an object in JSON: keys, each with its value behind it, in the order in which they are written. If a key ends
// in "?", a value that is zero or empty is left out.
type Object []any

// MarshalJSON implements json.Marshaler. Constraints such as ">= 1.0" stay readable.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	b.WriteByte('{')
	for i := 0; i < len(o); i += 2 {
		key, optional := strings.CutSuffix(o[i].(string), "?")
		if v := reflect.ValueOf(o[i+1]); optional && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":`)
		if err := out.Encode(o[i+1]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Sorted is the object with its keys sorted.
func (o Object) Sorted() Object {
	pairs := slices.Collect(slices.Chunk(o, 2))
	slices.SortFunc(pairs, func(a, b Object) int { return strings.Compare(a[0].(string), b[0].(string)) })
	return slices.Concat(pairs...)
}

// about says which package an object is about. Without a version, none was chosen yet.
func about(s getproviders.Selection, platform getproviders.Platform) Object {
	return Object{"address", s.Provider, "version?", s.Version, "platform", platform}
}

// StampFormat is RFC 3339 with microseconds.
const StampFormat = "2006-01-02T15:04:05.000000Z07:00"

// Span is when the work on a package began and ended; zero where nothing was to be done.
type Span struct{ Begun, Ended time.Time }

// Stamp is a moment, in UTC.
func Stamp(at time.Time) string { return at.UTC().Format(StampFormat) }

// Object is when something began and ended, as far as it is known.
func (s Span) Object() (o Object) {
	if !s.Begun.IsZero() {
		o = Object{"started_at", Stamp(s.Begun)}
	}
	if !s.Ended.IsZero() {
		o = append(o, "ended_at", Stamp(s.Ended))
	}
	return o
}

// ErrorObject says why something isn't there; nothing, if there is no error.
func ErrorObject(err error) Object {
	if err == nil {
		return nil
	}
	return Object{"error", err.Error(), "code", explain.CodeOf(problem.Because(err, &problem.Problem{}))}
}

// orNull is null for what isn't known.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

// Each makes a list of another, which is never null in JSON.
func Each[T, U any](list []T, of func(T) U) []U {
	all := []U{}
	for _, item := range list {
		all = append(all, of(item))
	}
	return all
}

// OrEmpty keeps null out of JSON.
func OrEmpty[T any](list []T) []T { return append([]T{}, list...) }

// byProvider has the packages of each provider together, which come one after the other.
func byProvider[P any](packages []P, of func(P) getproviders.Selection) (groups [][]P) {
	for i, p := range packages {
		if i == 0 || of(p).Provider != of(packages[i-1]).Provider {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
	}
	return groups
}

// tallied counts packages, and those of each finding that there is.
func tallied[P any](packages []P, finding func(P) string) map[string]int {
	counts := map[string]int{}
	for _, p := range packages {
		counts[finding(p)]++
	}
	return counts
}
