package hosts

import (
	"errors"
	"fmt"
	"net/http"
)

// ErrOffline says that nobody may be asked.
var ErrOffline = errors.New("no requests are sent while offline")

// OfflineError says that a request wasn't sent. It matches ErrOffline.
type OfflineError struct {
	Method string // "GET"
	URL    string // redacted
	By     string // what forbids requests, such as "-offline"
}

// Error implements error.
func (e *OfflineError) Error() string {
	return fmt.Sprintf("%s %q was not sent, because %s allows no requests", e.Method, e.URL, e.By)
}

// Code is "offline".
func (e *OfflineError) Code() string { return "offline" }

// Is reports whether target is ErrOffline.
func (e *OfflineError) Is(target error) bool { return target == ErrOffline }

// NewOfflineClient returns a client that sends nothing: every request, whatever
// its scheme and host, is an *OfflineError, and no name is looked up. by says
// what forbids requests. The client is safe for many goroutines.
func NewOfflineClient(by string) *http.Client {
	return &http.Client{Transport: offline{by}}
}

// offline is the transport of a client that sends nothing.
type offline struct{ by string }

func (o offline) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil { // a RoundTripper has to close it
		_ = req.Body.Close()
	}
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	return nil, &OfflineError{Method: method, URL: RedactURL(req.URL), By: o.by}
}
