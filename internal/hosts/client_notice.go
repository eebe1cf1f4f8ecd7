package hosts

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Retry says that something is going to be requested again.
type Retry struct {
	Host     string // that is asked
	Attempt  int    // which attempt is next: 2 is the first retry
	Attempts int    // how many there are at most
	Wait     time.Duration
	Reason   string // what went wrong, in a few words, without secrets
}

// RetryReason says in a few words why a request is made again: after an answer if there is one, else after an error.
func RetryReason(resp *http.Response, err error) string {
	if resp != nil {
		return strings.TrimSpace(resp.Status)
	}
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	var unknown x509.UnknownAuthorityError
	switch {
	case err == nil:
		return "no answer"
	case errors.As(err, &unknown):
		return "certificate of an unknown authority"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &dns):
		return "host not found"
	case isRefused(err):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection lost"
	default:
		return "connection failed"
	}
}

// AnnounceRetry tells the OnRetry of a client's options that a request is made again which the client's
// own retries don't cover. It does nothing with other clients.
func AnnounceRetry(ctx context.Context, client *http.Client, r Retry) {
	if told := optionsOf(client).OnRetry; told != nil && ctx.Err() == nil {
		told(r)
	}
}
