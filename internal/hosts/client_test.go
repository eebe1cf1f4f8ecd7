package hosts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
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
	resp := closed(t)(Do(clientFor(t, srv, opts), get(t, srv.URL)))
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

func TestRetry_WaitIsThatOfTheClient(t *testing.T) {
	ours := newClient(t, ClientOptions{RetryWaitMin: time.Minute, RetryWaitMax: time.Hour, UserAgent: "test"})
	asks := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1800"}}}
	for name, c := range map[string]struct {
		client         *http.Client
		retry          int
		resp           *http.Response
		atLeast, below time.Duration
	}{
		"the first":            {ours, 0, nil, time.Minute, 2 * time.Minute},
		"the third":            {ours, 2, nil, 4 * time.Minute, 8 * time.Minute},
		"as the server asks":   {ours, 0, asks, 30 * time.Minute, 31 * time.Minute},
		"with a part on top":   {WithArchiveCredentials(ours, nil), 0, nil, time.Minute, 2 * time.Minute},
		"another client":       {&http.Client{}, 0, nil, time.Second, 2 * time.Second},
		"another transport":    {&http.Client{Transport: http.DefaultTransport}, 0, nil, time.Second, 2 * time.Second},
		"no client":            {nil, 9, nil, 15 * time.Second, 31 * time.Second},
		"no longer than asked": {nil, 0, asks, 30 * time.Second, 31 * time.Second},
	} {
		if got := RetryWait(c.client, c.retry, c.resp); got < c.atLeast || got >= c.below {
			t.Errorf("%s: %v, want at least %v and less than %v", name, got, c.atLeast, c.below)
		}
	}
}

func TestExtraRoots(t *testing.T) {
	srv := startTLS(t, func(http.ResponseWriter, *http.Request) {})
	cert := srv.Certificate()
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	must.Write(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	empty := filepath.Join(dir, "empty.pem")
	must.Write(t, empty, []byte("nothing"))
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "subdirectory"), 0o700))

	for _, tc := range []struct{ name, file, dirs, problem string }{
		{"file", file, "", ""},
		{"directory with other things", "", dir, ""},
		{"several directories", "", t.TempDir() + string(filepath.ListSeparator) + dir, ""},
		{"both", file, dir, ""},
		{"missing file", filepath.Join(dir, "missing.pem"), "", "cannot read the file of certificates"},
		{"no certificate", empty, "", "there is no certificate in " + empty},
		{"missing directory", "", filepath.Join(dir, "missing"), "cannot read the directory of certificates"},
	} {
		config := &tls.Config{RootCAs: x509.NewCertPool()}
		err := addCertificates(config, tc.file, tc.dirs)
		if tc.problem != "" {
			must.Contain(t, err, tc.problem, tc.name)
			continue
		}
		must.Succeed(t, err, tc.name)
		must.Get(cert.Verify(x509.VerifyOptions{Roots: config.RootCAs}))(t, tc.name)
	}
}

func TestClientOptions_TrustVariablesLeavesThemToGoWhereItReadsThem(t *testing.T) {
	var opts ClientOptions
	opts.TrustVariables("file", "dir")
	must.Equal(t, runtime.GOOS != "darwin" && runtime.GOOS != "windows", opts.CertFile == "" && opts.CertDir == "")
}

func TestRetryReason(t *testing.T) {
	for _, tt := range []struct {
		resp *http.Response
		err  error
		want string
	}{
		{&http.Response{Status: "503 Service Unavailable"}, nil, "503 Service Unavailable"},
		{nil, context.DeadlineExceeded, "timeout"},
		{nil, &Fault{Err: os.ErrDeadlineExceeded}, "timeout"},
		{nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "connection refused"},
		{nil, &net.OpError{Op: "dial", Err: syscall.Errno(10061)}, "connection refused"}, // by Windows
		{nil, &net.DNSError{Err: "no such host", Name: "example.com"}, "host not found"},
		{nil, io.ErrUnexpectedEOF, "connection lost"},
		{nil, errors.New("https://example.com/?token=secret went wrong"), "connection failed"},
		{nil, nil, "no answer"},
	} {
		must.Equal(t, RetryReason(tt.resp, tt.err), tt.want, tt.resp, tt.err)
	}
}

func TestClient_TellsOfRetries(t *testing.T) {
	failures := 2
	var told []Retry
	opts := quick(3, replies(func(req *http.Request) *http.Response {
		resp := answer(req, 200)
		if failures--; failures >= 0 {
			resp.StatusCode, resp.Status = 502, "502 Bad Gateway"
		}
		return resp
	}))
	opts.OnRetry = func(r Retry) { told = append(told, r) }
	client := newClient(t, opts)
	closed(t)(client.Do(get(t, "https://example.com/")))
	must.Len(t, told, 2)
	for i, r := range told {
		want := Retry{Host: "example.com", Attempt: i + 2, Attempts: 4, Wait: r.Wait, Reason: "502 Bad Gateway"}
		if r != want || r.Wait <= 0 {
			t.Errorf("told %+v, want %+v", r, want)
		}
	}
	AnnounceRetry(t.Context(), client, Retry{Host: "x"})
	AnnounceRetry(t.Context(), http.DefaultClient, Retry{Host: "y"})
	must.Len(t, told, 3)
	must.Equal(t, told[2].Host, "x")
}
