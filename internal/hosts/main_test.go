package hosts

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMain(m *testing.M) {
	if os.Getenv(childURL) != "" {
		os.Exit(fetchAsChild())
	}
	goleak.VerifyTestMain(m)
}

// quick returns options without long waits, and with a base, if one is given.
func quick(retries int, base ...http.RoundTripper) ClientOptions {
	opts := ClientOptions{Retries: retries, RetryWaitMin: time.Nanosecond, RetryWaitMax: time.Microsecond}
	if len(base) > 0 {
		opts.Base = base[0]
	}
	return opts
}

// startTLS serves HTTPS on loopback, HTTP/2 included, unless change disables it.
func startTLS(t testing.TB, h http.HandlerFunc, changes ...func(srv *httptest.Server)) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	for _, change := range changes {
		change(srv)
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

// startPlain serves HTTP on loopback.
func startPlain(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// clientFor returns a client with our own transport that trusts the server.
func clientFor(t testing.TB, srv *httptest.Server, opts ClientOptions) *http.Client {
	t.Helper()
	if srv.TLS != nil {
		opts.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		opts.TLS.RootCAs.AddCert(srv.Certificate())
	}
	return newClient(t, opts)
}

func newClient(t testing.TB, opts ClientOptions) *http.Client {
	t.Helper()
	client := must.Get(NewClient(opts))(t)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// roundTrip is a function that implements http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// replies is a RoundTripper that never fails.
func replies(f func(*http.Request) *http.Response) roundTrip {
	return func(req *http.Request) (*http.Response, error) { return f(req), nil }
}

// asking is a client of this package, without waits, that receives these replies.
func asking(t testing.TB, retries int, f func(*http.Request) *http.Response) *http.Client {
	t.Helper()
	return newClient(t, quick(retries, replies(f)))
}

// discovering is a Discovery that receives these replies.
func discovering(f func(*http.Request) *http.Response) Discovery {
	return Discovery{Client: &http.Client{Transport: replies(f)}}
}

// onward redirects each URL to its entry in ways, if it has one.
func onward(req *http.Request, ways map[string]string) *http.Response {
	if to := ways[req.URL.String()]; to != "" {
		return answer(req, 302, "Location", to)
	}
	return answer(req, 200)
}

// closed closes the body of a response, and fails the test on an error.
func closed(t testing.TB) func(*http.Response, error) *http.Response {
	return func(resp *http.Response, err error) *http.Response {
		t.Helper()
		must.Succeed(t, err)
		resp.Body.Close()
		return resp
	}
}

// answer makes a response with a header, given as names and values, and no body.
func answer(req *http.Request, status int, header ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Request: req, Header: http.Header{}, Body: http.NoBody}
	for i := 0; i < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return resp
}

func get(t testing.TB, url string) *http.Request {
	t.Helper()
	return mustRequest(t, "GET", url)
}

func mustRequest(t testing.TB, method, url string) *http.Request {
	t.Helper()
	return must.Get(http.NewRequestWithContext(t.Context(), method, url, nil))(t)
}

// recorder keeps the requests of a server.
type recorder struct {
	mu   sync.Mutex
	list []string
}

// add returns the current number of requests.
func (r *recorder) add(s string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, s)
	return len(r.list)
}

func (r *recorder) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.list, " ")
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = nil
}
