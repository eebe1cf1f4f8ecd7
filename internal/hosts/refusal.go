package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Refusal is an answer about credentials: the host that refused a request, and why.
type Refusal struct {
	Host   Hostname // that refused, or whose discovery document names the service that refused
	Sent   bool     // credentials were sent, and refused
	Advice string   // the remedy, without secrets; "" means that the host wants credentials, or others
	Lead   string   // the beginning of the hint
	Err    error    // the answer
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

// Hint returns the remedy. The program knows where it takes credentials from.
func (r *Refusal) Hint() string {
	switch {
	case r.Advice != "":
		return r.Advice
	case r.Sent:
		return fmt.Sprintf("%sthe credentials for %s may have expired, or lack the right to read this", r.Lead, r.Host)
	default:
		return fmt.Sprintf("%sthe program needs credentials for %q", r.Lead, r.Host.String())
	}
}

// StatusAdvice returns the meaning of an error status, and what to do, or "" if nothing general is
// known.
func StatusAdvice(status int) string {
	switch {
	case status == http.StatusTooManyRequests:
		return "the server limits the number of requests: wait, then run again. A shared cache or a mirror sends fewer"
	case status >= http.StatusInternalServerError:
		return "the server failed: run again later. If it keeps failing, tell those who run the server"
	case status == http.StatusGone:
		return "what was at this URL was removed: check the address, or ask those who run the server"
	case status >= http.StatusBadRequest && !Refuses(status) && status != http.StatusNotFound:
		return "the server refuses to answer this request: check the URL, and whether a proxy answers in place of the server"
	default:
		return ""
	}
}

// Refuses reports whether a status is about credentials.
func Refuses(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// ExplainRefusal returns why a request was answered with a status about credentials. Credentials in
// the request are the owner's.
func ExplainRefusal(owner Hostname, req DocumentRequest, doc *Document) *Refusal {
	why := &Refusal{Host: owner, Err: &StatusError{Document: doc}}
	switch {
	case !SameOrigin(req.URL, doc.URL):
		why.Host = Hostname(doc.URL.Host)
		why.Advice = fmt.Sprintf("the request was redirected there from %s, and credentials are not sent along to another host", RedactURL(req.URL))
	case req.Header.Get("Authorization") != "":
		why.Sent = true
	case req.URL.User != nil:
		why.Sent, why.Advice = true, "the credentials are the user and the password in the URL"
	case !Confidential(req.URL):
		why.Advice = "credentials are not sent over plain http: the service has to have an https URL"
	}
	return why
}

// Says returns what a host did that refused, as in "host example.com ...".
func (r *Refusal) Says(status int) string {
	switch {
	case r.Sent:
		return "rejected the given authentication credentials"
	case status == http.StatusForbidden:
		return "denies access, or requires authentication credentials"
	default:
		return "requires authentication credentials"
	}
}

// PlainJSON removes the names of Go types from an error of package json about a document that should be an
// object.
func PlainJSON(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is a JSON %s, not an object", wrong.Value)
	default:
		return fmt.Errorf("%s can't be a JSON %s", wrong.Field, wrong.Value)
	}
}

// MalformedAdvice returns a probable cause of a malformed JSON document, or "". err is the error of
// decoding it.
func MalformedAdvice(body []byte, err error) string {
	switch _, isSyntax := errors.AsType[*json.SyntaxError](err); {
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return "the answer is a web page: check the URL, and whether a login or a proxy answers in place of the server"
	case isSyntax && json.Valid(body): // text follows the first value
		return ""
	case isSyntax:
		return "the answer is not JSON, or only a part of it: run again. If it happens again, something on the way cuts or changes it, or the URL is wrong"
	}
	return ""
}

// StatusError is an HTTP answer with an unexpected status.
type StatusError struct{ *Document }

// Error implements error.
func (e *StatusError) Error() string {
	return afterAttempts(e.Attempts, fmt.Errorf("GET %q: %s%s", RedactURL(e.URL), e.Status, e.Said)).Error()
}

// Hint returns the meaning of the status.
func (e *StatusError) Hint() string { return StatusAdvice(e.StatusCode) }

// Code returns the status's name for programs: "rate_limited".
func (e *StatusError) Code() string {
	switch status := e.StatusCode; {
	case Refuses(status):
		return "unauthorized"
	case status == http.StatusNotFound, status == http.StatusGone:
		return "package_not_found"
	case status == http.StatusTooManyRequests:
		return "rate_limited"
	case status >= http.StatusInternalServerError:
		return "server_failed"
	}
	return "unreachable"
}
