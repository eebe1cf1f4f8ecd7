package hosts

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// drip returns some bytes after each interval, n times. Then it ends with an error, or waits until the request's context does.
type drip struct {
	req      *http.Request
	n, bytes int
	interval time.Duration
	end      error
}

func (d *drip) Read(p []byte) (int, error) {
	if d.n == 0 && d.end == nil {
		<-d.req.Context().Done()
		return 0, d.req.Context().Err()
	}
	if d.n == 0 {
		return 0, d.end
	}
	d.n--
	time.Sleep(d.interval)
	return copy(p, strings.Repeat("x", d.bytes)), nil
}

func (*drip) Close() error { return nil }

// One byte a second is no stall, but would take for ever.
func TestClient_EndsWhatComesTooSlowly(t *testing.T) {
	fastEnough := errors.New("it was fast enough")
	for name, test := range map[string]struct {
		bytes   int // each second
		archive bool
		opts    ClientOptions
		after   time.Duration // 0: it is fast enough
		want    string
	}{
		"document":              {1, false, ClientOptions{}, 61 * time.Second, "1m0s for a document"},
		"document, shorter":     {100, false, ClientOptions{DocumentTimeout: 5 * time.Second}, 6 * time.Second, "5s for a document"},
		"archive":               {1, true, ClientOptions{}, 60 * time.Second, "1024 bytes a second over 1m0s"},
		"archive, fast enough":  {1024, true, ClientOptions{}, 0, ""},
		"archive, higher limit": {1024, true, ClientOptions{MinRate: 1025}, 60 * time.Second, "1025 bytes a second over 1m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			test.opts.Base = replies(func(req *http.Request) *http.Response {
				resp := answer(req, 200)
				resp.Body = &drip{req, 10_000, test.bytes, time.Second, fastEnough}
				return resp
			})
			req := get(t, "https://example.com/x?sig=secret")
			if test.archive {
				req = req.WithContext(WithOwnConnection(req.Context()))
			}
			resp := must.Get(newClient(t, test.opts).Do(req))(t)
			defer resp.Body.Close()
			start := time.Now()
			_, err := io.Copy(io.Discard, resp.Body)
			if test.after == 0 {
				must.Equal(t, err, fastEnough)
				return
			}
			must.Fail(t, err, errTooSlow, name)
			if took := time.Since(start); took != test.after || !strings.HasSuffix(err.Error(), "it didn't keep to "+test.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: after %s: %v, want %s: %s", name, took, err, test.after, test.want)
			}
		})
	}
}

// A body that breaks off is requested again, as after a connection that fails.
func TestGetDocument_RetriesWhatBreaksOff(t *testing.T) {
	for _, test := range []struct{ broken, retries, requests int }{{1, 1, 2}, {2, 1, 2}, {1, 0, 1}, {0, 1, 1}} {
		asked := 0
		srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked <= test.broken {
				w.Header().Set("Content-Length", "100")
			}
			_, _ = io.WriteString(w, "{}")
		})
		doc, err := GetDocument(t.Context(), clientFor(t, srv, quick(test.retries)), DocumentRequest{URL: mustURL(t, srv.URL), MaxBytes: 1000})
		if good := test.broken < test.requests; good != (err == nil) || good && string(doc.Body) != "{}" || asked != test.requests {
			t.Errorf("%+v: %d requests: %v", test, asked, err)
		}
	}
	asked := 0
	srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write(make([]byte, 200))
	})
	if _, err := GetDocument(t.Context(), clientFor(t, srv, quick(3)), DocumentRequest{URL: mustURL(t, srv.URL), MaxBytes: 100}); err == nil || asked != 1 {
		t.Errorf("what is too large was asked for %d times: %v", asked, err)
	}
}
