package download

import (
	"errors"
	"net/http"
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
		w := &resumableBody{total: c.total, validator: validatorOf(http.Header{"Etag": {`"a"`}}), sure: true}
		resp := &http.Response{StatusCode: http.StatusPartialContent, Header: c.header, Request: &http.Request{}}
		err := w.acceptRest(resp, 40)
		if errors.Is(err, errStale) != c.stale || !c.stale && (err != nil || w.pos != 40 || !w.combined || w.total != 100) {
			t.Errorf("%s: %v, %+v", name, err, w)
		}
	}
}
