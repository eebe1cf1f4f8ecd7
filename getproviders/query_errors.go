package getproviders

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// What is asked over a network, as errors name it.
const (
	kindRegistry = "provider registry"
	kindMirror   = "provider mirror"
)

// QueryFailed says that a registry or a mirror gave no answer about the provider. kind is what was asked, and err names
// the URL. It matches ErrUnreachable, or ErrUnauthorized where it is service discovery that wants
// credentials, and whatever err matches.
func (p Provider) QueryFailed(kind string, err error) *Fault {
	failed := &Fault{Code: "unreachable", Kind: ErrUnreachable, Subject: Subject{Provider: p}, Err: fmt.Errorf("could not query %s for %s: %w", kind, p, err)}
	if errors.Is(err, ErrUnauthorized) {
		failed.Code, failed.Kind = "unauthorized", nil
	}
	return failed
}

// queryError is what a failed query comes to. The end of the caller's own
// context is no other caller's failure.
func queryError(ctx context.Context, kind string, p Provider, err error) error {
	return causeOr(ctx, p.QueryFailed(kind, err))
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

// malformedError says that the answer from a URL is not what the protocol has
// there.
func malformedError(kind string, p Provider, doc *hosts.Document, err error) *Fault {
	failed := p.QueryFailed(kind, fmt.Errorf("malformed answer from %q: %w", hosts.RedactURL(doc.URL), err))
	failed.Code, failed.Hint = "invalid_answer", hosts.MalformedAdvice(doc.Body, err)
	return failed
}
