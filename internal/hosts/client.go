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

// ClientOptions is what NewClient needs to know. The zero value works.
type ClientOptions struct {
	UserAgent     string        // sent with every request unless the request has one; empty: none is added
	Retries       int           // how often a request is tried again after a failure; 0: never
	RetryWaitMin  time.Duration // the shortest wait before the first retry, doubled for each further one; 0: 1 s
	RetryWaitMax  time.Duration // no wait is longer, whatever Retry-After says; 0: 30 s
	OnRetry       func(Retry)   // is called by many goroutines before the wait for each retry; nil: nothing is told
	HeaderTimeout time.Duration // for each of: connecting, TLS handshake, the response's header; in each attempt; 0: 10 s
	StallTimeout  time.Duration // without a byte of the body; 0: 30 s
	// DocumentTimeout is how long the body of anything but an archive (WithOwnConnection)
	// may take; 0: a minute.
	DocumentTimeout time.Duration
	// MinRate is how many bytes a second an archive has to bring, over a minute; 0: 1024.
	MinRate int64
	Log     *slog.Logger     // one debug record for each attempt, redacted; nil: none
	Now     func() time.Time // the clock, for DocumentTimeout, MinRate and for durations in the log; nil: the system's

	// CertFile is a PEM file of certificates that are trusted besides those of the
	// system, and CertDir a directory of such files; several are separated as in PATH.
	// See TrustVariables for SSL_CERT_FILE and SSL_CERT_DIR.
	CertFile, CertDir string
	variables         struct{ file, dir string } // the values that TrustVariables got, for errors
	// TLS is how connections are secured, client certificates included; nil: by the
	// system's certificates. It is copied. Versions before 1.2 are used only if
	// its MinVersion says so. CertFile and CertDir add to its RootCAs.
	TLS *tls.Config
	// Proxy says through which proxy a request goes; nil: http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)
	// DialContext makes connections, and may refuse to, such as those to private
	// addresses; nil: a net.Dialer. HeaderTimeout ends it.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)

	// Base is the bottom of the stack; nil: a clone of http.DefaultTransport.
	//
	// Of an *http.Transport a clone is used: what the fields above say replaces its
	// settings, and its own proxy, dialer, certificates and time limits stay where they
	// say nothing. Any other RoundTripper connects as it likes: TLS, Proxy, DialContext,
	// CertFile and CertDir can't be combined with it, its answers have to begin within
	// three times HeaderTimeout, and it asks [WantsOwnConnection] for which requests
	// not to share a connection.
	Base http.RoundTripper

	random func() float64 // from 0 up to, but not including, 1: for waits
}

// TrustVariables sets CertFile and CertDir to the values of SSL_CERT_FILE and
// SSL_CERT_DIR on macOS and Windows, where Go doesn't read these variables itself.
// Elsewhere it does, and takes what they name in place of the system's certificates.
// Errors about certificates name what the variables say.
func (o *ClientOptions) TrustVariables(certFile, certDir string) {
	o.variables.file, o.variables.dir = certFile, certDir
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		o.CertFile, o.CertDir = certFile, certDir
	}
}

// decided returns the options with what those that are zero mean.
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

// defaultRedirects is how many redirects the client follows where the caller
// doesn't say; http.Client's own limit is about the same.
const defaultRedirects = 10

// NewClient returns the one HTTP client of a program. It is safe for use by
// many goroutines; its CloseIdleConnections method works. The error says
// which certificate file or directory can't be used.
//
// GET and HEAD requests are tried again after connection errors, status 429
// and 5xx other than 501, with exponential backoff and jitter, and after what
// Retry-After asks for. When attempts run out, the caller gets the last response or error;
// Attempts and the errors of Do tell the number.
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
	return &http.Client{Transport: s, CheckRedirect: redirectPolicy(defaultRedirects)}, nil
}

// stack is what a request of a client of NewClient goes through: its user agent, retries, the log, the guard against stalls,
// and the transport, whose errors are explained on the way back.
type stack struct {
	layer                 // the transport
	opts  ClientOptions   // decided
	alone *http.Transport // for what has a connection to itself; nil: the Base sees to that
	begin time.Duration   // in which answers have to begin; 0: the transport has a limit for that
}

// send is what sends a request on: the parts of the stack below.
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

// CloseIdleConnections is called by the method of http.Client with that name.
func (s *stack) CloseIdleConnections() {
	s.layer.CloseIdleConnections()
	if s.alone != nil {
		s.alone.CloseIdleConnections()
	}
}

// layer is what all parts of a client have in common: the next part, and the
// way for CloseIdleConnections down to the transport.
type layer struct{ next http.RoundTripper }

// CloseIdleConnections is called by the method of http.Client with that name.
func (l layer) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// upper is a part above the stack, or in its place, that is a function, which shows no secrets.
type upper struct {
	layer
	send func(next http.RoundTripper, req *http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper, which has to close the body of a request that isn't sent, too.
func (p *upper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := p.send(p.next, req)
	if err != nil && req.Body != nil {
		_ = req.Body.Close()
	}
	return resp, err
}

// onTop returns a copy of a client, nil being that of [DefaultClient], with one more
// part on top of its stack: it sees each hop once, retries happen below it.
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

// DefaultClient returns the client that a nil one stands for everywhere in this
// module: that of the zero ClientOptions, with one retry. It is the same for all
// callers, so that they share connections.
func DefaultClient() *http.Client { return defaultClient() }

var defaultClient = sync.OnceValue(func() *http.Client {
	client, err := NewClient(ClientOptions{Retries: 1})
	if err != nil { // only certificates can be the reason, and there are none
		panic(err)
	}
	return client
})

// ResolveRetries turns the text of TF_REGISTRY_DISCOVERY_RETRY into
// ClientOptions.Retries: a positive number, else 1.
func ResolveRetries(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return 1
}

// ResolveTimeout turns the text of TF_REGISTRY_CLIENT_TIMEOUT, in seconds,
// into ClientOptions.HeaderTimeout: a positive number, else 10. Where the
// real tool limits each metadata request as a whole, here each of its phases
// has that long.
func ResolveTimeout(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		n = 10
	}
	return time.Duration(min(int64(n), math.MaxInt64/int64(time.Second))) * time.Second
}

// ErrOffline says that no host may be asked.
var ErrOffline = errors.New("no requests are sent while offline")

// NewOfflineClient returns a client that sends nothing: every request, whatever
// its scheme and host, is an error that matches ErrOffline, and no name is looked up. by says
// what forbids requests. The client is safe for many goroutines.
func NewOfflineClient(by string) *http.Client {
	return &http.Client{Transport: &upper{send: func(_ http.RoundTripper, req *http.Request) (*http.Response, error) {
		return nil, &Fault{ID: "offline", Kind: ErrOffline, Err: fmt.Errorf("%s %q was not sent, because %s allows no requests", cmp.Or(req.Method, http.MethodGet), RedactURL(req.URL), by)}
	}}}
}
