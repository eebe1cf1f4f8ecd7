package getproviders

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// What is asked over a network, as errors name it.
const (
	kindRegistry = "provider registry"
	kindMirror   = "provider mirror"
)

// QueryError says that a registry or a mirror gave no answer about a provider,
// or none that makes sense. It matches ErrUnreachable and whatever Err matches:
// the errors of hosts, a *StatusError, or a malformed answer's.
type QueryError struct {
	Provider Provider
	Kind     string // "provider registry" or "provider mirror"
	Err      error  // names the URL
}

// Error implements error.
func (e *QueryError) Error() string {
	return fmt.Sprintf("could not query %s for %s: %v", e.Kind, e.Provider, e.Err)
}

// Unwrap returns ErrUnreachable and the cause.
func (e *QueryError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }

// UnauthorizedError says that a host didn't let us read something. It matches
// ErrUnauthorized.
type UnauthorizedError struct {
	Provider Provider
	Host     hosts.Hostname // whose credentials are wanted
	Status   StatusError    // 401: there are none, or wrong ones; 403: these, or none, aren't enough
}

// Error implements error.
func (e *UnauthorizedError) Error() string {
	what := "requires authentication credentials"
	if e.Status.Code == http.StatusForbidden {
		what = "denies access, or requires authentication credentials"
	}
	return fmt.Sprintf("host %s %s for provider %s: %v", e.Host, what, e.Provider, &e.Status)
}

// Is reports whether target is ErrUnauthorized.
func (e *UnauthorizedError) Is(target error) bool { return target == ErrUnauthorized }

// StatusError is an HTTP answer that isn't the one that was hoped for.
type StatusError struct {
	URL      string // redacted
	Status   string // "503 Service Unavailable"
	Code     int    // 503
	Attempts int    // how often the request was sent; 1: no retry was made
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("GET %q: %s", e.URL, e.Status)
	if e.Attempts > 1 {
		return fmt.Sprintf("the request failed after %d attempts, please try again later: %s", e.Attempts, text)
	}
	return text
}

// queryError is what a failed query comes to. The end of the caller's own
// context is nobody else's failure.
func queryError(ctx context.Context, kind string, p Provider, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &QueryError{Provider: p, Kind: kind, Err: err}
}

// statusError judges an answer that isn't 200. The credentials that it may
// want are those of host.
func statusError(kind string, p Provider, host hosts.Hostname, doc *hosts.Document) error {
	status := StatusError{
		URL:      hosts.RedactURL(doc.URL),
		Status:   doc.Status,
		Code:     doc.StatusCode,
		Attempts: doc.Attempts,
	}
	switch doc.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &UnauthorizedError{Provider: p, Host: host, Status: status}
	default:
		return &QueryError{Provider: p, Kind: kind, Err: &status}
	}
}

// malformedError says that the answer from a URL is not what the protocol has
// there.
func malformedError(kind string, p Provider, doc *hosts.Document, err error) error {
	return &QueryError{Provider: p, Kind: kind, Err: fmt.Errorf("malformed answer from %q: %w", hosts.RedactURL(doc.URL), err)}
}
