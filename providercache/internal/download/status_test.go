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

func TestTransferError_SaysHowFarItCame(t *testing.T) {
	for want, e := range map[string]TransferError{
		"broken": {Total: -1},
		"https://a/a.zip: after 0 of 9 bytes: broken": {Total: 9},
		"https://a/a.zip: after 4 of 9 bytes: broken": {Done: 4, Total: 9},
		"https://a/a.zip: after 4 bytes: broken":      {Done: 4, Total: -1},
	} {
		e.Archive, e.Err = "https://a/a.zip", errors.New("broken")
		must.Equal(t, e.Error(), want)
	}
}

// TestOpen_SaysHowOftenItTried has the words that programs look for in what OpenTofu says. They
// are there if it is said how often an archive is requested.
func TestOpen_SaysHowOftenItTried(t *testing.T) {
	none := 0
	for status, words := range map[int]string{http.StatusInternalServerError: "/a.zip giving up after 1 attempt(s)", http.StatusNotFound: ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		at := must.Get(url.Parse(server.URL + "/a.zip"))(t)
		for _, retries := range []*int{nil, &none} {
			if retries == nil && status != http.StatusNotFound {
				continue // the client would wait before it tries again
			}
			_, err := Open(t.Context(), Opening{Location: getproviders.HTTPArchive{URL: at, Retries: retries}})
			must.Equal(t, strings.Contains(err.Error(), "giving up"), words != "", status)
			must.Contain(t, err, words, status)
		}
		server.Close()
	}
}
