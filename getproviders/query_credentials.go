package getproviders

import (
	"context"
	"errors"
	"fmt"
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
	says := hosts.Refusal{Sent: e.Sent}.Says(e.Status.StatusCode)
	return fmt.Sprintf("host %s %s for provider %s: %v", e.Host, says, e.Provider, &e.Status)
}

// Code is "unauthorized".
func (e *UnauthorizedError) Code() string { return "unauthorized" }

// Is reports whether target is ErrUnauthorized.
func (e *UnauthorizedError) Is(target error) bool { return target == ErrUnauthorized }

// Hint says what to do.
func (e *UnauthorizedError) Hint() string { return e.Advice }

// unauthorizedError finds out who refused, and why whom.
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
