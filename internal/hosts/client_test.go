package hosts

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestClient_UserAgent(t *testing.T) {
	for _, tc := range []struct{ ours, theirs, want string }{
		{"tfdeps/1.0", "", "tfdeps/1.0"},
		{"tfdeps/1.0", "other/2", "other/2"},
		{"", "", ""},
	} {
		var got string
		client := newClient(t, ClientOptions{UserAgent: tc.ours, Base: replies(func(req *http.Request) *http.Response {
			got = req.Header.Get("User-Agent")
			return answer(req, 200)
		})})
		req := get(t, "https://example.com/")
		if tc.theirs != "" {
			req.Header.Set("User-Agent", tc.theirs)
		}
		must.Get(client.Do(req))(t)
		must.Equal(t, got, tc.want)
		must.Equal(t, req.Header.Get("User-Agent"), tc.theirs)
	}
}

func TestLog_HasOneRedactedRecordForEachAttempt(t *testing.T) {
	made := 0
	opts, log := withLog(quick(1, roundTrip(func(req *http.Request) (*http.Response, error) {
		if made++; made == 1 {
			return nil, errors.New("no route")
		}
		return answer(req, 404), nil
	})), slog.LevelDebug)
	now := time.Unix(0, 0)
	opts.Now = func() time.Time { now = now.Add(250 * time.Millisecond); return now }
	req := get(t, "https://me:hunter2@example.com/a/b?sig=hunter2&x=hunter2")
	req.Header.Set("Authorization", "Bearer hunter2")
	closed(t)(newClient(t, opts).Do(req))
	records := strings.Split(strings.TrimSpace(log.String()), "\n")
	must.Len(t, records, 2)
	must.NotContain(t, log, "hunter2")
	for i, want := range []string{
		`method=GET url="https://example.com/a/b?sig=REDACTED&x=REDACTED" attempt=1 took=250ms error="no route"`,
		`attempt=2 took=500ms status=404 bytes=0 protocol="" header_after=250ms`,
	} {
		must.Contain(t, records[i], want, i)
	}
}

func TestLog_IsSilentAboveDebug(t *testing.T) {
	opts, log := withLog(quick(0, replies(func(req *http.Request) *http.Response { return answer(req, 500) })), slog.LevelInfo)
	closed(t)(newClient(t, opts).Do(get(t, "https://example.com/")))
	must.Equal(t, log.String(), "")
}

func TestClient_Stall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, ClientOptions{StallTimeout: 5 * time.Second, Base: replies(func(req *http.Request) *http.Response {
			resp := answer(req, 200)
			resp.Body = &drip{req: req, n: 3, bytes: 1, interval: 4 * time.Second}
			return resp
		})})
		resp := must.Get(client.Do(get(t, "https://example.com/big.zip?sig=secret")))(t)
		defer resp.Body.Close()
		time.Sleep(time.Minute) // a slow reader
		start := time.Now()
		body, err := io.ReadAll(resp.Body)
		must.Equal(t, string(body), "xxx")
		must.Equal(t, time.Since(start), 17*time.Second)
		const want = "the transfer from https://example.com/big.zip?sig=REDACTED stalled: no data for 5s"
		must.Fail(t, err, errTooSlow)
		must.Equal(t, err.Error(), want)
		must.Equal(t, must.As[interface {
			error
			Timeout() bool
		}](t, err).Timeout(), true, "not a timeout")
	})
}

func TestStall_DropsTheConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		dropped := make(chan struct{})
		srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "some")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(dropped)
		}, func(srv *httptest.Server) { srv.EnableHTTP2 = http2 })
		resp := must.Get(clientFor(t, srv, ClientOptions{StallTimeout: 20 * time.Millisecond}).Do(get(t, srv.URL)))(t)
		_, err := io.ReadAll(resp.Body)
		must.Fail(t, err, errTooSlow, resp.Proto)
		<-dropped
		resp.Body.Close()
	}
}

func TestClient_HeaderTimeoutEndsAnAttempt(t *testing.T) {
	var made atomic.Int32
	srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
		if made.Add(1) == 1 {
			<-r.Context().Done()
		}
	})
	opts := quick(4)
	opts.HeaderTimeout = 500 * time.Millisecond
	resp := closed(t)(Do(clientFor(t, srv, opts), get(t, srv.URL), 0))
	if made.Load() < 2 || Attempts(resp) < 2 {
		t.Errorf("%d requests, %d attempts", made.Load(), Attempts(resp))
	}
}

func TestConnections_AreReused(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var connections atomic.Int32
		srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/missing" {
				http.NotFound(w, r)
			}
		}, func(srv *httptest.Server) {
			srv.EnableHTTP2 = http2
			srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					connections.Add(1)
				}
			}
		})
		client := clientFor(t, srv, quick(1))
		for _, path := range []string{"/a", "/missing", "/b", "/c"} {
			must.Get(GetDocument(t.Context(), client, DocumentRequest{URL: mustURL(t, srv.URL+path), MaxBytes: 10}))(t)
		}
		must.Equal(t, connections.Load(), 1, http2)
	}
}

func TestClient_TransportSettings(t *testing.T) {
	transport := cloneDefault()
	must.Succeed(t, configure(transport, ClientOptions{HeaderTimeout: 3 * time.Second}))
	if transport.TLSHandshakeTimeout != 3*time.Second || transport.ResponseHeaderTimeout != 3*time.Second {
		t.Error("HeaderTimeout is not for each phase")
	}
	if transport.Proxy == nil {
		t.Error("no proxy")
	}
	client := newClient(t, ClientOptions{})
	must.Equal(t, client.Timeout, 0, "there is a time limit for whole transfers")
	if client.Jar != nil {
		t.Error("there is a cookie jar")
	}
}

func TestClient_ResolveSettings(t *testing.T) {
	for text, want := range map[string]int{
		"": 1, "0": 1, "-3": 1, "x": 1, "1.5": 1, " 2": 1, "1": 1, "5": 5, "99999999999999999999": 1,
	} {
		must.Equal(t, ResolveRetries(text), want, text)
	}
	for text, want := range map[string]time.Duration{
		"": 10 * time.Second, "0": 10 * time.Second, "-1": 10 * time.Second, "5s": 10 * time.Second,
		"30": 30 * time.Second, "9223372036": 9223372036 * time.Second,
	} {
		must.Equal(t, ResolveTimeout(text), want, text)
	}
	if got := ResolveTimeout("9223372036854775807"); got <= 0 {
		t.Errorf("overflow: %s", got)
	}
}
