package hosts

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Fault is a failure of a request, or on the way to one, with what programs and people want to know of it. Its text is
// that of Err, and it matches Kind and what Err matches.
type Fault struct {
	ID     string   // as Code
	Host   Hostname // whose services can't be used; "": it is about something else
	Kind   error    // one of the Err values of this package; nil: it matches what Err does
	Err    error    // what went wrong, in words; of a request without an answer the network's own error
	Advice string   // what may be wrong and what to do, without secrets; "": that isn't known
	Common string   // as Shared
	Op     string   // of a bucket, which Err names before what it wraps: "get"; "": it is about something else
	Status int      // of HTTP, that an archive was answered with; 0: it is about something else
}

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Code names the failure for programs: "host_not_found".
func (f *Fault) Code() string { return f.ID }

// Hint says what may be wrong, and what to do.
func (f *Fault) Hint() string { return f.Advice }

// Shared tells apart what several requests fail for; "": it is about one of them.
func (f *Fault) Shared() string { return f.Common }

// HTTPStatus is Status.
func (f *Fault) HTTPStatus() int { return f.Status }

// Unwrap returns Kind and Err.
func (f *Fault) Unwrap() []error {
	if f.Kind == nil {
		return []error{f.Err}
	}
	return []error{f.Kind, f.Err}
}

// Timeout reports whether time ran out, as net.Error has it.
func (f *Fault) Timeout() bool {
	var t interface{ Timeout() bool }
	return f.Kind == errTooSlow || errors.As(f.Err, &t) && t.Timeout()
}

// What callers of Discovery.Service branch on, with errors.Is.
var (
	// ErrNoService: the host answered, and doesn't have that service.
	ErrNoService = errors.New("host does not offer the service")
	// ErrServiceVersion: the host has the service, in other versions only.
	ErrServiceVersion = errors.New("host does not offer this version of the service")
	// ErrUnauthorized: a server wants credentials, or others: 401 or 403.
	ErrUnauthorized = errors.New("not authorized")
	// ErrHostUnreachable: no connection, no complete answer, or another status that isn't success.
	ErrHostUnreachable = errors.New("host unreachable or failing")
	// ErrDiscoveryDocument: the host answered with something that isn't a valid discovery document.
	ErrDiscoveryDocument = errors.New("invalid discovery document")
)

// ErrPlainHTTP says that metadata would come by http from another machine, though the
// user asked for https.
var ErrPlainHTTP = errors.New("it is at plain http, where anyone on the way could replace what it says")

// ErrRequest says that a request got no answer, or only part of one.
var ErrRequest = errors.New("there is no whole answer")

// ErrTooLarge says that a body has more bytes than its reader accepts.
var ErrTooLarge = errors.New("too large")

// TooLarge says that a response has more bytes than a limit. It matches ErrTooLarge.
func TooLarge(limit int64) *Fault {
	size := fmt.Sprintf("%d bytes", limit)
	if limit >= 1e9 {
		size = fmt.Sprintf("%.1f GB", float64(limit)/1e9)
	}
	return &Fault{ID: "too_large", Kind: ErrTooLarge, Err: errors.New("the response is larger than " + size), Advice: "nothing valid is that large: check what is at the URL"}
}

// unanswered says that a request got no answer, or only part of one. attempts is how often the failing hop was asked. The text has the
// form of http.Client's own.
func unanswered(method string, at *url.URL, attempts int, err error) *Fault {
	if method == "" || method == http.MethodGet {
		method = "Get"
	}
	failed := &Fault{ID: "request_failed", Kind: ErrRequest, Err: afterAttempts(attempts, fmt.Errorf("%s %q: %w", method, RedactURL(at), err))}
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		failed.ID = coded.Code()
	}
	if at != nil && at.Host != "" && !errors.Is(err, ErrTooLarge) { // which is about one URL
		failed.Common = "request " + at.Scheme + "://" + at.Host
	}
	return failed
}

// afterAttempts says that a request was made several times.
func afterAttempts(attempts int, err error) error {
	if attempts > 1 {
		return fmt.Errorf("the request failed after %d attempts, please try again later: %w", attempts, err)
	}
	return err
}
