package getproviders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

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
	what := "requires authentication credentials"
	switch {
	case e.Sent:
		what = "rejected the given authentication credentials"
	case e.Status.Code == http.StatusForbidden:
		what = "denies access, or requires authentication credentials"
	}
	return fmt.Sprintf("host %s %s for provider %s: %v", e.Host, what, e.Provider, &e.Status)
}

// Is reports whether target is ErrUnauthorized.
func (e *UnauthorizedError) Is(target error) bool { return target == ErrUnauthorized }

// Hint says what to do.
func (e *UnauthorizedError) Hint() string { return e.Advice }

func wantsCredentials(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// unauthorizedError finds out who refused, and why whom.
func unauthorizedError(p Provider, host hosts.Hostname, req hosts.DocumentRequest, doc *hosts.Document, status StatusError) error {
	failed := &UnauthorizedError{Provider: p, Host: host, Status: status}
	switch {
	case host == "":
		failed.Host = hosts.Hostname(doc.URL.Host)
		failed.Advice = "no credentials are ever sent for checksum lists and signatures: " +
			"the registry has to let everybody read them, or to name signed URLs"
	case !hosts.SameOrigin(req.URL, doc.URL):
		failed.Host = hosts.Hostname(doc.URL.Host)
		failed.Advice = fmt.Sprintf("the request was redirected there from %s, and credentials are not sent along to another host",
			hosts.RedactURL(req.URL))
	case req.Header.Get("Authorization") != "":
		failed.Sent = true
		failed.Advice = rejectedAdvice(host)
	case req.URL.User != nil:
		failed.Sent = true
		failed.Advice = "the credentials are the user and the password in the URL"
	case !hosts.Confidential(req.URL):
		failed.Advice = "credentials are not sent over plain http: the service has to have an https URL"
	default:
		failed.Advice = missingAdvice(host)
	}
	return failed
}

func rejectedAdvice(host hosts.Hostname) string {
	from := "a credentials block or a credentials helper of the CLI configuration"
	if variable := hosts.TokenVariable(host); variable != "" {
		from = "the environment variable " + variable + ", " + from
	}
	return fmt.Sprintf("the credentials for %s may have expired, or may not be meant for this; they are those of %s", host, from)
}

func missingAdvice(host hosts.Hostname) string {
	block := fmt.Sprintf("a credentials block for %q in the CLI configuration", host.String())
	if variable := hosts.TokenVariable(host); variable != "" {
		return fmt.Sprintf("put a token into the environment variable %s, or into %s", variable, block)
	}
	return "put a token into " + block
}

// discoveryError is queryError for a host whose services can't be found. A
// host that wants credentials for that, too, is rare.
func discoveryError(ctx context.Context, p Provider, err error) error {
	failed := queryError(ctx, kindRegistry, p, err)
	query, isQuery := errors.AsType[*QueryError](failed)
	discovery, isDiscovery := errors.AsType[*hosts.DiscoveryError](err)
	switch {
	case !isQuery || !isDiscovery || !wantsCredentials(discovery.StatusCode):
	case discovery.Authorized:
		query.Advice = rejectedAdvice(p.Hostname)
	default:
		query.Advice = missingAdvice(p.Hostname)
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
