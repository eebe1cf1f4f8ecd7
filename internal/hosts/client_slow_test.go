package hosts

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// drip returns some bytes after each interval, n times. Then it ends with an error, or waits until the request's context is
// done.
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

// A truncated body is requested again, as after a failed connection.
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

// TestArchives_HaveConnectionsOfTheirOwn requests two archives that redirect, the second one while
// the first one is still being received.
func TestArchives_HaveConnectionsOfTheirOwn(t *testing.T) {
	var seen recorder
	srv := startTLS(t, func(w http.ResponseWriter, req *http.Request) {
		seen.add(req.Proto + " " + req.RemoteAddr)
		if req.URL.Path == "/redirect" {
			http.Redirect(w, req, "/archive", http.StatusFound)
			return
		}
		_, _ = w.Write(make([]byte, 64<<10)) // more than is read along with the header
	})
	client := clientFor(t, srv, ClientOptions{})
	var open []*http.Response
	for range 2 {
		req := get(t, srv.URL+"/redirect")
		resp := must.Get(client.Do(req.WithContext(WithOwnConnection(req.Context()))))(t)
		must.Equal(t, resp.ProtoMajor, 1, resp.Proto)
		open = append(open, resp)
	}
	for _, resp := range open {
		resp.Body.Close()
	}
	if all := seen.list; len(all) != 4 || all[0] != all[1] || all[2] != all[3] || all[0] == all[2] {
		t.Errorf("two archives, each redirected, were asked for by %q; want a connection for each", all)
	}
	seen.reset()
	resp := closed(t)(client.Do(get(t, srv.URL+"/document")))
	must.Equal(t, resp.ProtoMajor, 2, resp.Proto)
}

// TestArchives_ComeFromServersWithoutHTTP1 has a server that aborts the handshake with clients that
// don't offer HTTP/2.
func TestArchives_ComeFromServersWithoutHTTP1(t *testing.T) {
	srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "archive")
	}, func(srv *httptest.Server) {
		srv.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			strict := &tls.Config{Certificates: srv.TLS.Certificates, NextProtos: []string{"h2"}}
			if !slices.Contains(hello.SupportedProtos, "h2") {
				strict.NextProtos = []string{"none"}
			}
			return strict, nil
		}}
	})
	req := get(t, srv.URL)
	resp := must.Get(clientFor(t, srv, ClientOptions{}).Do(req.WithContext(WithOwnConnection(req.Context()))))(t)
	body, err := ReadAll(resp, 100)
	if string(body) != "archive" || err != nil || resp.ProtoMajor != 2 {
		t.Errorf("got %q by %s, %v", body, resp.Proto, err)
	}
}

func TestClient_IdleConnectionsOfArchivesCanBeClosed(t *testing.T) {
	var mu sync.Mutex
	gone := make(chan struct{})
	open := 0
	srv := startTLS(t, http.NotFound, func(srv *httptest.Server) {
		srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			switch state {
			case http.StateNew:
				open++
			case http.StateClosed:
				if open--; open == 0 {
					close(gone)
				}
			}
		}
	})
	client := clientFor(t, srv, ClientOptions{})
	shared := get(t, srv.URL)
	for _, req := range []*http.Request{shared, shared.WithContext(WithOwnConnection(t.Context()))} {
		resp := must.Get(client.Do(req))(t)
		must.Get(ReadAll(resp, 100))(t)
	}
	client.CloseIdleConnections()
	<-gone
}
