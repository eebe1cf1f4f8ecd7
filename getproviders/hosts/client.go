package hosts

import (
	"log/slog"
	"net/http"
	"time"
)

// ClientOptions is what NewClient needs to know. The zero value works.
type ClientOptions struct {
	UserAgent     string           // sent with every request unless the request has one; empty: none of ours
	Retries       int              // how often a request is tried again after a failure; 0: never
	RetryWaitMin  time.Duration    // the shortest wait before the first retry, doubled for each further one; 0: 1 s
	RetryWaitMax  time.Duration    // no wait is longer, whatever Retry-After says; 0: 30 s
	HeaderTimeout time.Duration    // for each of: connecting, TLS handshake, the response's header; in each attempt; 0: 10 s
	StallTimeout  time.Duration    // without a byte of the body; 0: 30 s
	Log           *slog.Logger     // one debug record for each attempt, redacted; nil: none
	Now           func() time.Time // the clock, for the durations in the log; nil: the log has none
	CertFile      string           // SSL_CERT_FILE, for systems where Go itself doesn't read it
	CertDir       string           // SSL_CERT_DIR, likewise; several are separated as in PATH
	// Base is the bottom of the stack; nil: a clone of http.DefaultTransport.
	// HeaderTimeout, CertFile and CertDir have no effect on a given one.
	Base http.RoundTripper
}

// What the zero ClientOptions means.
const (
	defaultRetryWaitMin  = 1 * time.Second
	defaultRetryWaitMax  = 30 * time.Second
	defaultHeaderTimeout = 10 * time.Second
	defaultStallTimeout  = 30 * time.Second
)

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
// Attempts and RequestError tell the number.
func NewClient(opts ClientOptions) (*http.Client, error) {
	stack, err := bottom(opts)
	if err != nil {
		return nil, err
	}
	stack = &stallGuard{layer{stack}, orDefault(opts.StallTimeout, defaultStallTimeout)}
	if opts.Log != nil {
		stack = &requestLog{layer{stack}, opts.Log, opts.Now}
	}
	stack = newRetry(stack, opts.Retries, newBackoff(opts))
	if opts.UserAgent != "" {
		stack = &userAgent{layer{stack}, opts.UserAgent}
	}
	return &http.Client{Transport: stack, CheckRedirect: redirectPolicy(defaultRedirects)}, nil
}

func bottom(opts ClientOptions) (http.RoundTripper, error) {
	if opts.Base != nil {
		return opts.Base, nil
	}
	return newSeparator(opts)
}

func orDefault(given, otherwise time.Duration) time.Duration {
	if given > 0 {
		return given
	}
	return otherwise
}

// layer is what all parts of the stack have in common: the next part, and the
// way for CloseIdleConnections down to the transport.
type layer struct{ next http.RoundTripper }

// CloseIdleConnections is called by the method of http.Client with that name.
func (l layer) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// below is the next part, for whoever looks for one in the stack.
func (l layer) below() http.RoundTripper { return l.next }

// onTop returns a copy of a client, nil being the default one, with one more
// part on top of its stack.
func onTop(client *http.Client, part func(next layer) http.RoundTripper) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	higher := *client
	higher.Transport = part(layer{next})
	return &higher
}
