package hosts

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestOffline_ClientSendsNothing(t *testing.T) {
	var asked atomic.Int32
	server := startPlain(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	client := NewOfflineClient("TFDEPS_OFFLINE")
	for _, wrapped := range []*http.Client{client, WithNetrc(client, nil), WithArchiveCredentials(client, nil)} {
		for _, method := range []string{"", http.MethodGet, http.MethodPost} {
			req, err := http.NewRequestWithContext(t.Context(), method, strings.Replace(server.URL, "://", "://user:secret@", 1)+"/a?sig=secret",
				strings.NewReader("body"))
			must.Succeed(t, err)
			_, err = Do(wrapped, req)
			must.Contain(t, err, "TFDEPS_OFFLINE")
			must.Fail(t, err, ErrOffline)
			text := err.Error()
			must.NotContain(t, text, "secret", "the error should name the URL, and no secrets")
			must.Contain(t, text, strings.TrimPrefix(server.URL, "http://"), "the error should name the URL, and no secrets")
		}
	}
	must.Equal(t, asked.Load(), 0)
}
