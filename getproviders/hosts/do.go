package hosts

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Do sends a request, following at most maxRedirects redirects, and returns
// the response with its body unread. Errors are *RequestError, so they hold
// neither userinfo nor query values (those of client.Do do). Sensitive
// headers such as Authorization never reach another host than the first.
// A nil client is that of DefaultClient.
func Do(client *http.Client, req *http.Request, maxRedirects int) (*http.Response, error) {
	if client == nil {
		client = DefaultClient()
	}
	limited := *client
	limited.CheckRedirect = redirectPolicy(maxRedirects)
	resp, err := limited.Do(req)
	if err != nil {
		return nil, requestError(req, err)
	}
	if resp.Request == nil { // a RoundTripper of the caller's that leaves it out
		resp.Request = req
	}
	return resp, nil
}

// requestError describes a failure of http.Client, whose own errors have the
// URL of the hop that failed, in full.
func requestError(req *http.Request, err error) *RequestError {
	failed := &RequestError{Method: req.Method, URL: RedactURL(req.URL), Attempts: 1, Err: withoutURL(err)}
	if u, ok := errors.AsType[*url.Error](err); ok {
		if hop, err := url.Parse(u.URL); err == nil {
			failed.URL = RedactURL(hop)
		}
	}
	if a, ok := errors.AsType[*attemptsError](err); ok {
		failed.Attempts, failed.Err = a.attempts, a.err
	}
	return failed
}

// RequestError says that a request got no answer, or only part of one.
type RequestError struct {
	Method   string // "GET"
	URL      string // redacted
	Attempts int    // how often the failing hop was asked; 1: no retry was made
	Err      error  // the network's own error, verbatim
}

// Error implements error. The text has the form of http.Client's own.
func (e *RequestError) Error() string {
	method := e.Method
	if method == "" || method == http.MethodGet {
		method = "Get"
	}
	text := fmt.Sprintf("%s %q: %v", method, e.URL, e.Err)
	if e.Attempts > 1 {
		return fmt.Sprintf("the request failed after %d attempts, please try again later: %s", e.Attempts, text)
	}
	return text
}

// Code is "request_failed", or the code of the cause.
func (e *RequestError) Code() string { return codeOr(e.Err, "request_failed") }

// codeOr returns the code of an error, or of what it wraps.
func codeOr(err error, otherwise string) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return otherwise
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// Attempts returns how often the request of a response was sent, retries
// included; 1 if the response doesn't come from a client of NewClient.
func Attempts(resp *http.Response) int {
	if resp == nil || resp.Request == nil {
		return 1
	}
	return attemptsOf(resp.Request.Context())
}

// ReadAll reads a body that may have at most limit bytes, and closes it. All
// errors are *RequestError; that of a larger body holds a *TooLargeError.
func ReadAll(resp *http.Response, limit int64) ([]byte, error) {
	defer resp.Body.Close()
	body, err := readCapped(resp, limit)
	if err != nil {
		return nil, bodyError(resp, err)
	}
	return body, nil
}

func readCapped(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, &TooLargeError{Limit: limit}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		return nil, &TooLargeError{Limit: limit}
	}
	return body, err
}

func bodyError(resp *http.Response, err error) *RequestError {
	failed := &RequestError{Method: http.MethodGet, Attempts: Attempts(resp), Err: err}
	if resp.Request != nil {
		failed.Method, failed.URL = resp.Request.Method, RedactURL(resp.Request.URL)
	}
	return failed
}

// TooLargeError says that a body has more bytes than its reader accepts.
type TooLargeError struct{ Limit int64 }

// Code is "too_large".
func (e *TooLargeError) Code() string { return "too_large" }

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the response is larger than %d bytes", e.Limit)
}
