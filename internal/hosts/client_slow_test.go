package hosts

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// ticking is a clock that a body moves.
type ticking struct{ now time.Time }

// slowBody returns some bytes from each Read, after a time, without end.
type slowBody struct {
	clock *ticking
	bytes int
	every time.Duration
	reads int
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.reads++; b.reads > 100_000 {
		return 0, errors.New("it would go on for ever")
	}
	b.clock.now = b.clock.now.Add(b.every)
	return min(b.bytes, len(p)), nil
}

func (*slowBody) Close() error { return nil }

// One byte a second is no stall, but would take for ever.
func TestClient_EndsWhatComesTooSlowly(t *testing.T) {
	for name, test := range map[string]struct {
		bytes   int
		every   time.Duration
		archive bool
		opts    ClientOptions
		after   time.Duration // 0: it is fast enough
		want    string
	}{
		"document":              {1, time.Second, false, ClientOptions{}, 61 * time.Second, "1m0s for a document"},
		"document, shorter":     {100, time.Second, false, ClientOptions{DocumentTimeout: 5 * time.Second}, 6 * time.Second, "5s for a document"},
		"archive":               {1, time.Second, true, ClientOptions{}, 60 * time.Second, "1024 bytes a second over 1m0s"},
		"archive, fast enough":  {1024, time.Second, true, ClientOptions{}, 0, ""},
		"archive, higher limit": {1024, time.Second, true, ClientOptions{MinRate: 1025}, 60 * time.Second, "1025 bytes a second over 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &ticking{time.Unix(1_000_000, 0)}
			test.opts.Now = func() time.Time { return clock.now }
			test.opts.Base = replies(func(req *http.Request) *http.Response {
				resp := answer(req, 200)
				resp.Body = &slowBody{clock: clock, bytes: test.bytes, every: test.every}
				return resp
			})
			req := get(t, "https://example.com/x?sig=secret")
			if test.archive {
				req = req.WithContext(WithOwnConnection(req.Context()))
			}
			resp, err := newClient(t, test.opts).Do(req)
			must.Succeed(t, err)
			defer resp.Body.Close()
			start := clock.now
			_, err = io.Copy(io.Discard, resp.Body)
			ok := errors.Is(err, errTooSlow)
			if test.after == 0 {
				if ok || !strings.Contains(err.Error(), "for ever") {
					t.Errorf("got %v", err)
				}
				return
			}
			if took := clock.now.Sub(start); !ok || took != test.after || !strings.HasSuffix(err.Error(), "it didn't keep to "+test.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("after %s: %v, want %s: %s", took, err, test.after, test.want)
			}
		})
	}
}

// A body that breaks off is requested again, as after a connection that fails.
func TestGetDocument_RetriesWhatBreaksOff(t *testing.T) {
	for name, test := range map[string]struct {
		broken, retries, requests int
	}{
		"once":       {1, 1, 2},
		"too often":  {2, 1, 2},
		"no retries": {1, 0, 1},
		"never":      {0, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked <= test.broken {
					w.Header().Set("Content-Length", "100")
				}
				_, _ = io.WriteString(w, "{}")
			})
			u := mustURL(t, srv.URL)
			doc, err := GetDocument(t.Context(), clientFor(t, srv, quick(test.retries)), DocumentRequest{URL: u, MaxBytes: 1000})
			if good := test.broken < test.requests; good != (err == nil) || good && string(doc.Body) != "{}" || asked != test.requests {
				t.Errorf("%d requests: %v", asked, err)
			}
		})
	}
	asked := 0
	srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write(make([]byte, 200))
	})
	u := mustURL(t, srv.URL)
	if _, err := GetDocument(t.Context(), clientFor(t, srv, quick(3)), DocumentRequest{URL: u, MaxBytes: 100}); err == nil || asked != 1 {
		t.Errorf("what is too large was asked for %d times: %v", asked, err)
	}
}
