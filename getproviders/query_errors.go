package getproviders

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Kinds of servers, as errors name them.
const (
	kindRegistry = "provider registry"
	kindMirror   = "provider mirror"
)

// QueryFailed returns the error of a query to a registry or a mirror about the provider. kind names the server, and err
// names the URL. The error matches ErrUnreachable, or ErrUnauthorized if service discovery wants credentials, and all
// that err matches.
func (p Provider) QueryFailed(kind string, err error) *Fault {
	failed := &Fault{Code: "unreachable", Kind: ErrUnreachable, Subject: Subject{Provider: p}, Err: fmt.Errorf("could not query %s for %s: %w", kind, p, err)}
	if errors.Is(err, ErrUnauthorized) {
		failed.Code, failed.Kind = "unauthorized", nil
	}
	return failed
}

// queryError returns the error of a failed query, or the cause of the caller's context if that has
// ended.
func queryError(ctx context.Context, kind string, p Provider, err error) error {
	return causeOr(ctx, p.QueryFailed(kind, err))
}

// causeOr returns the cause of ctx if it has ended, or else err. A query that callers share fails
// with err for all of them, even for one whose own context has ended.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// statusError returns the error of an answer whose status isn't 200. host is the owner of the
// credentials that the request had, or "" if such requests never have any.
func statusError(kind string, p Provider, host hosts.Hostname, req hosts.DocumentRequest, doc *hosts.Document) error {
	status := &hosts.StatusError{Document: doc}
	if !hosts.Refuses(doc.StatusCode) {
		return p.QueryFailed(kind, status)
	}
	why := &hosts.Refusal{
		Host: hosts.Hostname(doc.URL.Host), Err: status,
		Advice: "no credentials are ever sent for checksum lists and signatures: " +
			"the registry has to let everybody read them, or to name signed URLs",
	}
	if host != "" {
		why = hosts.ExplainRefusal(host, req, doc)
	}
	return &Fault{
		Code: "unauthorized", Kind: ErrUnauthorized, Subject: Subject{Provider: p, Host: why.Host},
		Err: fmt.Errorf("host %s %s for provider %s: %w", why.Host, why.Says(doc.StatusCode), p, why),
	}
}

// malformedError returns the error of an answer that doesn't follow the protocol.
func malformedError(kind string, p Provider, doc *hosts.Document, err error) *Fault {
	failed := p.QueryFailed(kind, fmt.Errorf("malformed answer from %q: %w", hosts.RedactURL(doc.URL), err))
	failed.Code, failed.Hint = "invalid_answer", hosts.MalformedAdvice(doc.Body, err)
	return failed
}
