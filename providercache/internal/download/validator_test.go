package download

import (
	"net/http"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestValidator_IfRange(t *testing.T) {
	const at, later = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:04:06 GMT"
	for name, c := range map[string]struct {
		header            http.Header
		condition         string
		resumable, unsure bool // resumable with a known checksum, and without
	}{
		"nothing":                   {http.Header{}, "", false, false},
		"an ETag":                   {http.Header{"Etag": {`"a"`}}, `"a"`, true, true},
		"a weak ETag":               {http.Header{"Etag": {`W/"a"`}}, "", true, false},
		"a weak ETag and a date":    {http.Header{"Etag": {`W/"a"`}, "Last-Modified": {at}, "Date": {later}}, "", true, false},
		"an ETag and a date":        {http.Header{"Etag": {`"a"`}, "Last-Modified": {at}, "Date": {later}}, `"a"`, true, true},
		"a date":                    {http.Header{"Last-Modified": {at}, "Date": {later}}, at, true, true},
		"a date that is now":        {http.Header{"Last-Modified": {at}, "Date": {at}}, "", true, false},
		"a date, and no time":       {http.Header{"Last-Modified": {at}}, "", true, false},
		"ranges":                    {http.Header{"Accept-Ranges": {"bytes"}}, "", true, false},
		"ranges of something":       {http.Header{"Accept-Ranges": {"lines"}}, "", false, false},
		"that there are no ranges":  {http.Header{"Accept-Ranges": {"none"}}, "", false, false},
		"a date that is not a date": {http.Header{"Last-Modified": {"yesterday"}, "Date": {later}}, "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := validatorOf(c.header)
			must.Equal(t, e.ifRange(), c.condition)
			must.Equal(t, e.resumable(true), c.resumable)
			must.Equal(t, e.resumable(false), c.unsure)
		})
	}
}

func TestValidator_DiffersIfBothSaySo(t *testing.T) {
	for _, c := range []struct {
		a, b validator
		want bool
	}{
		{validator{etag: "a"}, validator{etag: "a"}, false},
		{validator{etag: "a"}, validator{etag: "b"}, true},
		{validator{etag: "a"}, validator{}, false},
		{validator{modified: "x"}, validator{modified: "y"}, true},
		{validator{etag: "a", modified: "x"}, validator{etag: "a"}, false},
	} {
		must.Equal(t, c.a.differs(c.b), c.want)
		must.Equal(t, c.b.differs(c.a), c.want)
	}
}

func TestContentRange(t *testing.T) {
	for value, want := range map[string][2]int64{
		"bytes 0-0/1":                    {0, 1},
		"bytes 5-9/10":                   {5, 10},
		"bytes 5-9/*":                    {5, -1},
		"bytes 5-10/10":                  {},
		"bytes 9-5/10":                   {},
		"bytes 5-9":                      {},
		"bytes */10":                     {},
		"bytes -5/10":                    {},
		"bytes +5-9/10":                  {},
		"lines 5-9/10":                   {},
		"5-9/10":                         {},
		"bytes 5-9/-1":                   {},
		"bytes 5-99999999999999999999/*": {},
		"":                               {},
	} {
		from, _, total, ok := hosts.ContentRange(value)
		if ok != (want != [2]int64{}) || ok && [2]int64{from, total} != want {
			t.Errorf("%q: %d of %d, %v; want %v", value, from, total, ok, want)
		}
	}
}

func FuzzContentRange(f *testing.F) {
	for _, seed := range []string{"bytes 0-0/1", "bytes 5-9/*", "bytes 5-9/10", "bytes */10", "bytes 9223372036854775807-9223372036854775807/*", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		from, _, total, ok := hosts.ContentRange(value)
		if ok && (from < 0 || total < -1 || total >= 0 && from >= total) {
			t.Errorf("%q: %d of %d", value, from, total)
		}
	})
}

func TestRetry_GoesOnAsLongAsThereAreBytes(t *testing.T) {
	for name, c := range map[string]struct {
		at   func(i int) int64
		want int
	}{
		"something each time":    {func(i int) int64 { return int64(i + 1) }, maxTries},
		"nothing":                {func(int) int64 { return 0 }, maxFailures},
		"nothing any more":       {func(i int) int64 { return int64(min(i, 2)) }, 2 + maxFailures},
		"something now and then": {func(i int) int64 { return int64(i / maxFailures) }, maxTries},
	} {
		t.Run(name, func(t *testing.T) {
			var counted tries
			made := 0
			for counted.another(c.at(made)) {
				made++
			}
			must.Equal(t, made, c.want)
		})
	}
}
