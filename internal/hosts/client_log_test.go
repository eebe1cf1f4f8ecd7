package hosts

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// logBuffer collects records of many goroutines.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// withLog makes a client log at this level and above.
func withLog(opts ClientOptions, level slog.Level) (ClientOptions, *logBuffer) {
	var log logBuffer
	opts.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))
	return opts, &log
}

func TestLog_CountsBytesAndTellsOfConnections(t *testing.T) {
	server := startPlain(t, func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 1234))
		if req.URL.Path == "/cut" {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	opts, log := withLog(quick(0), LevelTrace)
	opts.Now = func() time.Time { return time.Time{} }
	client := newClient(t, opts)
	defer client.CloseIdleConnections()
	for _, path := range []string{"/a", "/b", "/left", "/cut"} {
		resp := must.Get(client.Get(server.URL + path))(t)
		if strings.Contains(log.String(), "bytes=0") || strings.Count(log.String(), "msg=\"HTTP request\"") == strings.Count(log.String(), "sent") {
			t.Errorf("%s: there is a record before the answer was read:\n%s", path, log)
		}
		if path == "/left" {
			_, _ = io.ReadFull(resp.Body, make([]byte, 10))
		} else {
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		resp.Body.Close()
		resp.Body.Close()
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	must.Len(t, lines, 8)
	for i, want := range []string{
		`msg="HTTP request sent" method=GET url=` + server.URL + "/a", "/a attempt=1 took=0s status=200 bytes=1234 protocol=HTTP/1.1 header_after=0s reused=false",
		"/b attempt=1", "status=200 bytes=1234 protocol=HTTP/1.1 header_after=0s reused=true",
		"/left attempt=1", "status=200 bytes=10 protocol=HTTP/1.1 header_after=0s reused=true",
		"/cut attempt=1", "bytes=1234 protocol=HTTP/1.1 header_after=0s reused=false error=\"unexpected EOF\"",
	} {
		must.Contain(t, lines[i], want, i)
	}
}

// For any outcome of a request, no log record identifies its user: it contains neither a query, a user and password,
// nor a header, nor those of a proxy or a redirect's target.
func TestLog_HoldsNoSecret(t *testing.T) {
	const secret = "hunter2"
	server := startTLS(t, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/redirect":
			http.Redirect(w, req, "/done?sig="+secret, http.StatusFound)
		case "/bad":
			w.Header().Set("Location", "https://"+secret+":%zz/")
			w.WriteHeader(http.StatusFound)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, secret)
			panic(http.ErrAbortHandler)
		case "/echo":
			w.Header().Set("Set-Cookie", secret)
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, req.Header.Get("Authorization"))
		}
	})
	trusting := &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	for name, opts := range map[string]ClientOptions{
		"trusted":    {TLS: trusting},
		"untrusted":  {},
		"by a proxy": {TLS: trusting, Proxy: http.ProxyURL(mustURL(t, "http://me:"+secret+"@127.0.0.1:1"))},
		"by a transport that names the URL": {Base: roundTrip(func(req *http.Request) (*http.Response, error) {
			return nil, errors.Join(&url.Error{Op: "Get", URL: req.URL.String(), Err: errors.New("no route to " + req.URL.String())})
		})},
	} {
		opts.Retries, opts.RetryWaitMin, opts.RetryWaitMax = 1, 1, 1
		opts, log := withLog(opts, LevelTrace)
		client := newClient(t, opts)
		for _, path := range []string{"/", "/redirect", "/bad", "/cut", "/echo"} {
			req := get(t, "https://me:"+secret+"@"+server.Listener.Addr().String()+path+"?token="+secret+"&"+secret+"#"+secret)
			req.Header.Set("Authorization", "Bearer "+secret)
			req.Header.Set("Cookie", secret)
			resp, err := client.Do(req)
			if err != nil {
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		client.CloseIdleConnections()
		if text := log.String(); strings.Contains(text, secret) || strings.Contains(text, "Bearer") {
			t.Errorf("%s: the log has a secret:\n%s", name, text)
		} else if !strings.Contains(text, "token=REDACTED") {
			t.Errorf("%s: no request was logged:\n%s", name, text)
		}
	}
}
