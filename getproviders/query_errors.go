package getproviders

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// What is asked over a network, as errors name it.
const (
	kindRegistry = "provider registry"
	kindMirror   = "provider mirror"
)

// QueryError says that a registry or a mirror gave no answer about a provider,
// or none that makes sense. It matches ErrUnreachable, or ErrUnauthorized where it is
// service discovery that wants credentials, and whatever Err matches: the errors of
// hosts, a *StatusError, or a malformed answer's.
type QueryError struct {
	Provider Provider
	Kind     string // "provider registry" or "provider mirror"
	Err      error  // names the URL
	Advice   string // what may be wrong; "" if nothing is known
	Invalid  bool   // there was an answer, and it isn't what the protocol has
}

// Error implements error.
func (e *QueryError) Error() string {
	return fmt.Sprintf("could not query %s for %s: %v", e.Kind, e.Provider, e.Err)
}

// Hint says what may be wrong.
func (e *QueryError) Hint() string { return e.Advice }

// Code is "invalid_answer", "unreachable" or "unauthorized".
func (e *QueryError) Code() string {
	switch {
	case errors.Is(e.Err, ErrUnauthorized):
		return "unauthorized"
	case e.Invalid:
		return "invalid_answer"
	default:
		return "unreachable"
	}
}

// Unwrap returns what the error is to callers, and the cause.
func (e *QueryError) Unwrap() []error {
	if errors.Is(e.Err, ErrUnauthorized) {
		return []error{e.Err}
	}
	return []error{ErrUnreachable, e.Err}
}

// StatusError is an HTTP answer that isn't the one that was hoped for.
type StatusError struct {
	URL        string // redacted
	Status     string // "503 Service Unavailable"
	StatusCode int    // 503
	Attempts   int    // how often the request was sent; 1: no retry was made
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("GET %q: %s", e.URL, e.Status)
	if e.Attempts > 1 {
		return fmt.Sprintf("the request failed after %d attempts, please try again later: %s", e.Attempts, text)
	}
	return text
}

// HTTPStatus is StatusCode.
func (e *StatusError) HTTPStatus() int { return e.StatusCode }

// Hint says what the status means.
func (e *StatusError) Hint() string { return hosts.StatusAdvice(e.StatusCode) }

// Code is "unauthorized" for 401 and 403, else "unreachable".
func (e *StatusError) Code() string {
	if hosts.Refuses(e.StatusCode) {
		return "unauthorized"
	}
	return "unreachable"
}

// WebPageError says that a server sent a web page in place of a package's archive. It matches what the page failed
// with as an archive: ErrAuthentication, if its checksum is another one.
type WebPageError struct {
	URL string // that was asked for, redacted
	Err error  // why the page is no package
}

// Error implements error.
func (e *WebPageError) Error() string {
	return fmt.Sprintf("the server sent a web page in place of the archive: GET %q", e.URL)
}

// Hint says what may be the cause.
func (e *WebPageError) Hint() string {
	return "a proxy or a login page may answer in place of the server: open the URL in a browser to see the page, and check HTTPS_PROXY and the login that the server wants"
}

// Code is "invalid_answer".
func (e *WebPageError) Code() string { return "invalid_answer" }

// Is reports whether Err matches the target. Err isn't unwrapped, for its advice is about archives.
func (e *WebPageError) Is(target error) bool { return errors.Is(e.Err, target) }

// queryError is what a failed query comes to. The end of the caller's own
// context is no other caller's failure.
func queryError(ctx context.Context, kind string, p Provider, err error) error {
	return causeOr(ctx, &QueryError{Provider: p, Kind: kind, Err: err})
}

// causeOr returns what a caller gets that shared a query with others: the query
// fails with err whether or not the caller's own context has ended meanwhile.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// statusError makes an error of the answer to a request that isn't 200. The credentials
// that went along, if there were any, are those of host; "" if none are ever
// sent for this.
func statusError(kind string, p Provider, host hosts.Hostname, req hosts.DocumentRequest, doc *hosts.Document) error {
	status := StatusError{
		URL:        hosts.RedactURL(doc.URL),
		Status:     doc.Status,
		StatusCode: doc.StatusCode,
		Attempts:   doc.Attempts,
	}
	if hosts.Refuses(doc.StatusCode) {
		return unauthorizedError(p, host, req, doc, status)
	}
	return &QueryError{Provider: p, Kind: kind, Err: &status}
}

// malformedError says that the answer from a URL is not what the protocol has
// there.
func malformedError(kind string, p Provider, doc *hosts.Document, err error) error {
	failed := &QueryError{Provider: p, Kind: kind, Invalid: true, Err: fmt.Errorf("malformed answer from %q: %w", hosts.RedactURL(doc.URL), err)}
	failed.Advice = hosts.MalformedAdvice(doc.Body, err)
	return failed
}

// UnauthorizedError says that a host didn't let us read something. It matches
// ErrUnauthorized.
type UnauthorizedError struct {
	Provider Provider
	Host     hosts.Hostname // that refused, or whose discovery document leads to what refused
	Status   StatusError    // 401 or 403
	Sent     bool           // credentials were sent, and are no good
	Advice   string         // what to do about it; never with a secret
}

// Error implements error.
func (e *UnauthorizedError) Error() string {
	says := hosts.Refusal{Sent: e.Sent}.Says(e.Status.StatusCode)
	return fmt.Sprintf("host %s %s for provider %s: %v", e.Host, says, e.Provider, &e.Status)
}

// Code is "unauthorized".
func (e *UnauthorizedError) Code() string { return "unauthorized" }

// Is reports whether target is ErrUnauthorized.
func (e *UnauthorizedError) Is(target error) bool { return target == ErrUnauthorized }

// Hint says what to do.
func (e *UnauthorizedError) Hint() string { return e.Advice }

// unauthorizedError finds out which host refused, and which credentials.
func unauthorizedError(p Provider, host hosts.Hostname, req hosts.DocumentRequest, doc *hosts.Document, status StatusError) error {
	why := hosts.Refusal{
		Host: hosts.Hostname(doc.URL.Host),
		Advice: "no credentials are ever sent for checksum lists and signatures: " +
			"the registry has to let everybody read them, or to name signed URLs",
	}
	if host != "" {
		why = hosts.ExplainRefusal(host, req, doc)
	}
	return &UnauthorizedError{Provider: p, Host: why.Host, Status: status, Sent: why.Sent, Advice: why.Advice}
}

// discoveryError is queryError for a host whose services can't be found. A
// host that wants credentials for that, too, is rare.
func discoveryError(ctx context.Context, p Provider, err error) error {
	failed := queryError(ctx, kindRegistry, p, err)
	query, isQuery := errors.AsType[*QueryError](failed)
	discovery, isDiscovery := errors.AsType[*hosts.DiscoveryError](err)
	if isQuery && isDiscovery {
		query.Advice = discovery.Advice()
	}
	return failed
}

// describedArchive is the location of an archive that a document at the URL
// doc names, where the credentials of owner are for the origin of base.
func describedArchive(archive, doc, base *url.URL, owner hosts.Hostname) HTTPArchive {
	if !hosts.SameOrigin(doc, base) || !hosts.SameOrigin(archive, base) {
		owner = ""
	}
	return HTTPArchive{URL: archive, Owner: owner}
}
