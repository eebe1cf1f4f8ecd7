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

// Retry is a request that is about to be repeated.
type Retry struct {
	Host     string // of the request
	Attempt  int    // the number of the next attempt: 2 for the first retry
	Attempts int    // the largest number of attempts
	Wait     time.Duration
	Reason   string // the error in a few words, without secrets
}

// RetryReason returns the reason for a retry in a few words: from the answer if resp isn't nil, else from the error.
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

// AnnounceRetry calls the OnRetry of a client's options for a retry outside of the client. It does
// nothing with other clients.
func AnnounceRetry(ctx context.Context, client *http.Client, r Retry) {
	if told := optionsOf(client).OnRetry; told != nil && ctx.Err() == nil {
		told(r)
	}
}
