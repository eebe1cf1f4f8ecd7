package hosts

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Fault is an error of a request, or before it, with details for programs and people. Its text is that of Err, and it
// matches Kind and what Err matches.
type Fault struct {
	ID     string   // the Code, without a Status
	Host   Hostname // whose services can't be used; "" if it is about something else
	Kind   error    // one of the Err values of this package; nil means that it matches only what Err does
	Err    error    // the cause, in words; for a request without an answer the network's own error
	Advice string   // the remedy, without secrets; "" if unknown
	Common string   // a key that errors of several requests with the same cause share; "" if it is about one request
	Op     string   // of a bucket, which Err names first: "get"; "" if it is about something else
	Status int      // HTTP status of an archive's answer; 0 if it is about something else
}

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Code returns the error's name for programs: "host_not_found".
func (f *Fault) Code() string {
	if f.Status != 0 {
		return (&StatusError{&Document{StatusCode: f.Status}}).Code()
	}
	return f.ID
}

// Hint returns the probable cause, and what to do.
func (f *Fault) Hint() string { return f.Advice }

// Unwrap returns Kind and Err.
func (f *Fault) Unwrap() []error {
	if f.Kind == nil {
		return []error{f.Err}
	}
	return []error{f.Kind, f.Err}
}

// Timeout reports whether the error is a timeout, as in net.Error.
func (f *Fault) Timeout() bool {
	var t interface{ Timeout() bool }
	return f.Kind == errTooSlow || errors.As(f.Err, &t) && t.Timeout()
}

// Errors that callers of Discovery.Service branch on, with errors.Is.
var (
	// ErrNoService: the host answered that it doesn't have the service.
	ErrNoService = errors.New("host does not offer the service")
	// ErrServiceVersion: the host has only other versions of the service.
	ErrServiceVersion = errors.New("host does not offer this version of the service")
	// ErrUnauthorized: a server wants credentials, or refuses those that were sent: 401 or 403.
	ErrUnauthorized = errors.New("not authorized")
	// ErrHostUnreachable: no connection, no complete answer, or another error status.
	ErrHostUnreachable = errors.New("host unreachable or failing")
	// ErrDiscoveryDocument: the host's answer isn't a valid discovery document.
	ErrDiscoveryDocument = errors.New("invalid discovery document")
)

// ErrPlainHTTP says that metadata would come from another machine by http, though the user asked
// for https.
var ErrPlainHTTP = errors.New("it is at plain http, where anyone on the way could replace what it says")

// ErrRequest says that a request got no answer, or an incomplete one.
var ErrRequest = errors.New("there is no complete answer")

// ErrTooLarge says that a body has more bytes than its reader accepts.
var ErrTooLarge = errors.New("too large")

// TooLarge returns the error of a response with more bytes than a limit. It matches ErrTooLarge.
func TooLarge(limit int64) *Fault {
	size := fmt.Sprintf("%d bytes", limit)
	if limit >= 1e9 {
		size = fmt.Sprintf("%.1f GB", float64(limit)/1e9)
	}
	return &Fault{ID: "too_large", Kind: ErrTooLarge, Err: errors.New("the response is larger than " + size), Advice: "nothing valid is that large: check what is at the URL"}
}

// unanswered returns the error of a request with no answer, or an incomplete one. attempts is how often the failing hop was requested.
// The text has http.Client's form.
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
	if at != nil && at.Host != "" && !errors.Is(err, ErrTooLarge) { // about one URL only
		failed.Common = "request " + at.Scheme + "://" + at.Host
	}
	return failed
}

// afterAttempts adds the number of attempts if there were several.
func afterAttempts(attempts int, err error) error {
	if attempts > 1 {
		return fmt.Errorf("the request failed after %d attempts, please try again later: %w", attempts, err)
	}
	return err
}
