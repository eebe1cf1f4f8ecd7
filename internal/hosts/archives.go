package hosts

import (
	"context"
	"net/http"
	"strings"
)

// aloneKey marks requests that get a connection of their own.
type aloneKey struct{}

// WithOwnConnection marks a request for something large, such as a package archive: a client of
// [NewClient] sends it and its redirects over HTTP/1.1, so that no other transfer shares its
// connection. Other clients ignore the mark.
//
// HTTP/2 sends all requests to a host over one connection. Archives would share that connection's
// bandwidth, and data that a reader doesn't take at once would be buffered in memory, up to 4 MiB
// for each archive. HTTP/1.1 leaves it in the system's buffers and with the sender.
func WithOwnConnection(ctx context.Context) context.Context {
	return context.WithValue(ctx, aloneKey{}, true)
}

// WantsOwnConnection reports whether a request's context is marked by [WithOwnConnection]. It is
// for a RoundTripper that is the Base of a client.
func WantsOwnConnection(ctx context.Context) bool {
	marked, _ := ctx.Value(aloneKey{}).(bool)
	return marked
}

// alone returns a transport with the same settings that speaks HTTP/1.1 only.
func alone(t *http.Transport) *http.Transport {
	t = t.Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	t.ForceAttemptHTTP2, t.TLSNextProto = false, nil
	return t
}

// apart sends requests that are marked by [WithOwnConnection] by the transport alone, and all others by the shared one.
func apart(shared http.RoundTripper, alone *http.Transport, req *http.Request) (*http.Response, error) {
	if alone == nil || !WantsOwnConnection(req.Context()) {
		return shared.RoundTrip(req)
	}
	resp, err := alone.RoundTrip(req)
	// The server speaks HTTP/2 only. The standard library's type for this error isn't exported.
	if err != nil && strings.Contains(err.Error(), "tls: no application protocol") && req.Body == nil {
		return shared.RoundTrip(req)
	}
	return resp, err
}

// archiveOwnerKey has the host whose token a request may have.
type archiveOwnerKey struct{}

// WithArchiveOwner marks the request for a package archive at the same origin as its description.
// owner is the host whose token was sent with the request for the description; "" is no mark. Only
// a client of [WithArchiveCredentials] reads the mark.
func WithArchiveOwner(ctx context.Context, owner Hostname) context.Context {
	return context.WithValue(ctx, archiveOwnerKey{}, owner)
}

// WithArchiveCredentials returns a copy of a client that sends the owner's token with a request
// whose context has an owner ([WithArchiveOwner]). Only the request itself has the token, and only
// if Authorize would send it: it isn't sent with redirects, not even to the same host.
//
// The protocols have no credentials for archives, and Terraform and OpenTofu send none. So this
// client is for archives only, and for users who asked for it.
func WithArchiveCredentials(client *http.Client, credentials Credentials) *http.Client {
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		owner, _ := req.Context().Value(archiveOwnerKey{}).(Hostname)
		redirected := req.Response != nil
		if owner == "" || redirected || req.Header.Get("Authorization") != "" {
			return next.RoundTrip(req)
		}
		// Change a copy: http.Client copies the headers of the next hop from the original.
		authorized := req.Clone(req.Context())
		if err := Authorize(req.Context(), credentials, owner, req.URL, authorized.Header); err != nil {
			return nil, err
		}
		return next.RoundTrip(authorized)
	})
}
