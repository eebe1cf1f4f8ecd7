package download

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
)

// The rest that a server sends has to be the rest of the same archive.
func TestResume_AcceptsTheRestOfTheSameArchiveOnly(t *testing.T) {
	for name, c := range map[string]struct {
		total  int64
		header http.Header
		stale  bool
	}{
		"the rest":            {100, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`"a"`}}, false},
		"total not told":      {100, http.Header{"Content-Range": {"bytes 40-99/*"}, "Etag": {`"a"`}}, false},
		"total not known yet": {-1, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`"a"`}}, false},
		"another start":       {100, http.Header{"Content-Range": {"bytes 39-99/100"}, "Etag": {`"a"`}}, true},
		"a later start":       {100, http.Header{"Content-Range": {"bytes 41-99/100"}, "Etag": {`"a"`}}, true},
		"another size":        {100, http.Header{"Content-Range": {"bytes 40-100/101"}, "Etag": {`"a"`}}, true},
		"another archive":     {100, http.Header{"Content-Range": {"bytes 40-99/100"}, "Etag": {`"b"`}}, true},
		"no range":            {100, http.Header{"Etag": {`"a"`}}, true},
	} {
		b, w := &body{total: c.total}, &webOpener{validator: validatorOf(http.Header{"Etag": {`"a"`}}), opening: Opening{Known: true}}
		resp := &http.Response{StatusCode: http.StatusPartialContent, Header: c.header, Request: &http.Request{}}
		err := w.acceptRest(b, resp, 40)
		if errors.Is(err, errStale) != c.stale || !c.stale && (err != nil || b.pos != 40 || !b.combined || b.total != 100) {
			t.Errorf("%s: %v, %+v", name, err, b)
		}
	}
}

func TestResume_AcceptsAPartThatIsTheWhole(t *testing.T) {
	for _, c := range []struct {
		said   string
		length int64
		ok     bool
	}{
		{"bytes 0-99/100", 100, true}, {"bytes 0-99/100", -1, true}, {"bytes 0-99/100", 99, false}, {"bytes 0-98/100", 99, false},
		{"bytes 1-99/100", 99, false}, {"bytes 0-99/*", 100, false}, {"bytes 0--1/0", 0, false}, {"", 100, true},
	} {
		b, w := &body{total: -1}, new(webOpener)
		resp := &http.Response{StatusCode: http.StatusPartialContent, ContentLength: c.length, Header: http.Header{"Content-Range": {c.said}},
			Request: &http.Request{URL: &url.URL{}}}
		if err := w.accept(b, resp, 0); (err == nil) != c.ok || c.ok && b.total != 100 {
			t.Errorf("%q of %d bytes: %v, %+v", c.said, c.length, err, b)
		}
	}
}
