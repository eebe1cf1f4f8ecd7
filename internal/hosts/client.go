package hosts

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// ClientOptions are the options of NewClient. The zero value works.
type ClientOptions struct {
	UserAgent     string        // sent with every request that has none; "" adds none
	Retries       int           // how often a failed request is tried again; 0 means never
	RetryWaitMin  time.Duration // the shortest wait before the first retry, doubled for each further one; 0 means 1 s
	RetryWaitMax  time.Duration // the longest wait, also for Retry-After; 0 means 30 s
	OnRetry       func(Retry)   // called by many goroutines before the wait for each retry; may be nil
	HeaderTimeout time.Duration // for each of: connecting, TLS handshake, the response's header; in each attempt; 0 means 10 s
	StallTimeout  time.Duration // without a byte of the body; 0 means 30 s
	// DocumentTimeout is the longest time for the body of anything but an archive
	// (WithOwnConnection); 0 means a minute.
	DocumentTimeout time.Duration
	// MinRate is the least rate of an archive in bytes per second, over a minute; 0 means 1024.
	MinRate int64
	Log     *slog.Logger     // one debug record for each attempt, redacted; nil means none
	Now     func() time.Time // the clock for DocumentTimeout, MinRate and durations in the log; nil means time.Now

	// CertFile is a PEM file of certificates that are trusted in addition to the system's, and
	// CertDir a directory of such files, or several, separated as in PATH. See TrustVariables for
	// SSL_CERT_FILE and SSL_CERT_DIR.
	CertFile, CertDir string
	variables         struct{ file, dir string } // the parameters of TrustVariables, for errors
	// TLS is the TLS configuration, with client certificates; nil means the system's certificates.
	// It is copied. Versions before 1.2 are used only if its MinVersion says so. CertFile and
	// CertDir add to its RootCAs.
	TLS *tls.Config
	// Proxy returns the proxy of a request; nil means http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)
	// DialContext makes connections, and may refuse to, such as to private addresses; nil means a
	// net.Dialer. HeaderTimeout limits it.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Base sends requests; nil means a clone of http.DefaultTransport.
	//
	// An *http.Transport is cloned: the fields above replace its settings, and it keeps its own
	// proxy, dialer, certificates and timeouts where they are zero. Any other RoundTripper makes
	// its own connections: TLS, Proxy, DialContext, CertFile and CertDir can't be combined with it,
	// its answers must begin within three times HeaderTimeout, and it can call [WantsOwnConnection]
	// for requests that shouldn't share a connection.
	Base http.RoundTripper

	random func() float64 // in [0, 1), for waits
}

// TrustVariables sets CertFile and CertDir to the values of SSL_CERT_FILE and SSL_CERT_DIR on macOS
// and Windows, where Go doesn't read these variables itself. On other systems Go does, and they
// replace the system's certificates. Errors about certificates name the values.
func (o *ClientOptions) TrustVariables(certFile, certDir string) {
	o.variables.file, o.variables.dir = certFile, certDir
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		o.CertFile, o.CertDir = certFile, certDir
	}
}

// decided returns the options with defaults in place of zero values.
func (o ClientOptions) decided() ClientOptions {
	for option, otherwise := range map[*time.Duration]time.Duration{
		&o.RetryWaitMin: time.Second, &o.RetryWaitMax: 30 * time.Second, &o.HeaderTimeout: 10 * time.Second,
		&o.StallTimeout: 30 * time.Second, &o.DocumentTimeout: time.Minute,
	} {
		if *option <= 0 {
			*option = otherwise
		}
	}
	if o.MinRate <= 0 {
		o.MinRate = 1024
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.random == nil {
		o.random = rand.Float64
	}
	if o.Proxy == nil && o.Base == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	return o
}

// NewClient returns the HTTP client of a program. Many goroutines may use it; its
// CloseIdleConnections method works. The error says which certificate file or directory can't be
// used.
//
// GET and HEAD requests are tried again after connection errors, status 429, and 5xx other than
// 501, with exponential backoff and jitter, and after the time in Retry-After. After the last
// attempt, the caller gets the last response or error; Attempts and the errors of Do have the
// number of attempts.
func NewClient(opts ClientOptions) (*http.Client, error) {
	s := &stack{opts: opts.decided()}
	switch base := opts.Base.(type) {
	case nil:
		s.alone = cloneDefault()
	case *http.Transport:
		s.alone = base.Clone()
	default:
		if opts.TLS != nil || opts.Proxy != nil || opts.DialContext != nil || opts.CertFile != "" || opts.CertDir != "" {
			return nil, fmt.Errorf("a Base of type %T makes its own connections: TLS, Proxy, DialContext, CertFile and CertDir can't be combined with it", base)
		}
		s.next, s.begin = base, 3*s.opts.HeaderTimeout
	}
	if shared := s.alone; shared != nil {
		if err := configure(shared, opts); err != nil {
			return nil, err
		}
		s.next, s.alone = shared, alone(shared)
	}
	return &http.Client{Transport: s, CheckRedirect: redirectPolicy(UsualRedirects)}, nil
}

// stack is the Transport of a client of NewClient. A request goes through user agent, retries, log, stall guard and
// transport, whose errors it explains.
type stack struct {
	layer                 // the transport
	opts  ClientOptions   // decided
	alone *http.Transport // for WithOwnConnection; nil if the Base handles that
	begin time.Duration   // limit for the beginning of an answer; 0 if the transport has a limit
}

// send sends a request by the lower parts of the stack.
type send = func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (s *stack) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.opts.UserAgent != "" && req.Header.Get("User-Agent") == "" {
		req = req.Clone(req.Context())
		req.Header.Set("User-Agent", s.opts.UserAgent)
	}
	connected := func(req *http.Request) (*http.Response, error) { return apart(s.next, s.alone, req) }
	watched := func(req *http.Request) (*http.Response, error) { return guarded(&s.opts, s.begin, req, connected) }
	resp, err := retried(&s.opts, req, func(req *http.Request) (*http.Response, error) { return logged(&s.opts, req, watched) })
	if err == nil || req.Context().Err() != nil {
		return resp, err
	}
	return resp, explained(&s.opts, req, err)
}

// CloseIdleConnections is called by http.Client's method of that name.
func (s *stack) CloseIdleConnections() {
	s.layer.CloseIdleConnections()
	if s.alone != nil {
		s.alone.CloseIdleConnections()
	}
}

// layer has the next part, and passes CloseIdleConnections on to the transport.
type layer struct{ next http.RoundTripper }

// CloseIdleConnections is called by http.Client's method of that name.
func (l layer) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// upper is a function on top of the stack, or in its place. Its fields have no secrets.
type upper struct {
	layer
	send func(next http.RoundTripper, req *http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper, which must close the body even of a request that isn't sent.
func (p *upper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := p.send(p.next, req)
	if err != nil && req.Body != nil {
		_ = req.Body.Close()
	}
	return resp, err
}

// onTop returns a copy of a client with one more part on top of its stack; nil means
// [DefaultClient]. The part sees each redirect once, above the retries.
func onTop(client *http.Client, send func(next http.RoundTripper, req *http.Request) (*http.Response, error)) *http.Client {
	if client == nil {
		client = DefaultClient()
	}
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	higher := *client
	higher.Transport = &upper{layer{next}, send}
	return &higher
}

// DefaultClient returns the client that nil means everywhere in this module: that of the zero
// ClientOptions, with one retry. All callers share it, and its connections.
func DefaultClient() *http.Client { return defaultClient() }

var defaultClient = sync.OnceValue(func() *http.Client {
	client, err := NewClient(ClientOptions{Retries: 1})
	if err != nil { // only certificates can fail, and the options have none
		panic(err)
	}
	return client
})

// ResolveRetries parses TF_REGISTRY_DISCOVERY_RETRY for ClientOptions.Retries: a positive number,
// else 1.
func ResolveRetries(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return 1
}

// ResolveTimeout parses TF_REGISTRY_CLIENT_TIMEOUT, in seconds, for ClientOptions.HeaderTimeout: a
// positive number, else 10. Terraform limits each metadata request as a whole; here the limit
// applies to each of its phases.
func ResolveTimeout(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		n = 10
	}
	return time.Duration(min(int64(n), math.MaxInt64/int64(time.Second))) * time.Second
}

// ErrOffline says that no requests are allowed.
var ErrOffline = errors.New("no requests are sent while offline")

// NewOfflineClient returns a client that sends nothing: every request fails with an error that
// matches ErrOffline, without a DNS lookup. by names what forbids requests. Many goroutines may use
// the client.
func NewOfflineClient(by string) *http.Client {
	return &http.Client{Transport: &upper{send: func(_ http.RoundTripper, req *http.Request) (*http.Response, error) {
		return nil, &Fault{ID: "offline", Kind: ErrOffline, Err: fmt.Errorf("%s %q was not sent, because %s allows no requests", cmp.Or(req.Method, http.MethodGet), RedactURL(req.URL), by)}
	}}}
}
