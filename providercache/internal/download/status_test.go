package download

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestInterrupted_SaysHowFarItCame(t *testing.T) {
	for want, e := range map[string]struct{ done, total int64 }{
		"broken": {total: -1},
		"https://a/a.zip: after 0 of 9 bytes: broken": {total: 9},
		"https://a/a.zip: after 4 of 9 bytes: broken": {4, 9},
		"https://a/a.zip: after 4 bytes: broken":      {4, -1},
	} {
		must.Equal(t, interrupted(getproviders.LocalArchive("https://a/a.zip"), e.done, e.total, errors.New("broken")).Error(), want)
	}
}

// TestOpen_SaysHowOftenItTried checks the words of OpenTofu that programs look
// for. They are in the error if it says how often an archive was requested.
func TestOpen_SaysHowOftenItTried(t *testing.T) {
	none := 0
	for status, words := range map[int]string{http.StatusInternalServerError: "/a.zip giving up after 1 attempt(s)", http.StatusNotFound: ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		at := must.Get(url.Parse(server.URL + "/a.zip"))(t)
		for _, retries := range []*int{nil, &none} {
			if retries == nil && status != http.StatusNotFound {
				continue // the client would wait before it tries again
			}
			source, err := newBody(t.Context(), Opening{Location: getproviders.HTTPArchive{URL: at, Retries: retries}}, 0)
			must.Equal(t, strings.Contains(err.Error(), "giving up"), words != "", status)
			must.Contain(t, err, words, status)
			must.Equal(t, source, nil, status)
		}
		server.Close()
	}
}
