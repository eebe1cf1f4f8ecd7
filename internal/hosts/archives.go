package hosts

import (
	"context"
	"net/http"
	"strings"
)

// aloneKey marks requests whose transfer has a connection to itself.
type aloneKey struct{}

// WithOwnConnection marks a request for something large, such as a package
// archive: a client of [NewClient] sends it, and what it is redirected to, over
// HTTP/1.1, so that no other transfer shares its connection. The mark has no
// effect on other clients.
//
// All requests that HTTP/2 sends to a host go through one connection. Archives
// would share what one connection gets of the network, and what a reader
// doesn't take at once would pile up in memory, up to 4 MiB for each of them,
// where HTTP/1.1 leaves it in the system's own buffers and with the sender.
func WithOwnConnection(ctx context.Context) context.Context {
	return context.WithValue(ctx, aloneKey{}, true)
}

// WantsOwnConnection reports whether a request with this context is marked with
// [WithOwnConnection]. It is for a RoundTripper that is the Base of a client.
func WantsOwnConnection(ctx context.Context) bool {
	marked, _ := ctx.Value(aloneKey{}).(bool)
	return marked
}

// alone returns a transport with the settings of another one that speaks
// nothing but HTTP/1.1.
func alone(t *http.Transport) *http.Transport {
	t = t.Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	t.ForceAttemptHTTP2, t.TLSNextProto = false, nil
	return t
}

// apart sends what is marked with [WithOwnConnection] by a transport of its own, and everything else by the shared one.
func apart(shared http.RoundTripper, alone *http.Transport, req *http.Request) (*http.Response, error) {
	if alone == nil || !WantsOwnConnection(req.Context()) {
		return shared.RoundTrip(req)
	}
	resp, err := alone.RoundTrip(req)
	// A server that has nothing but HTTP/2. The standard library's type for what it says then isn't exported.
	if err != nil && strings.Contains(err.Error(), "tls: no application protocol") && req.Body == nil {
		return shared.RoundTrip(req)
	}
	return resp, err
}

// archiveOwnerKey finds the host whose token a request may have.
type archiveOwnerKey struct{}

// WithArchiveOwner marks the request for a package archive that lies at the
// very origin which described it. The owner is the host with whose token the
// description was asked for. The mark has an effect only for a client of
// [WithArchiveCredentials]; with owner "" it has none.
func WithArchiveOwner(ctx context.Context, owner Hostname) context.Context {
	return context.WithValue(ctx, archiveOwnerKey{}, owner)
}

// WithArchiveCredentials returns a client that does what the given one does,
// and sends the owner's token along with a request whose context names one
// ([WithArchiveOwner]). Only the request itself has the token, and only where
// Authorize would send it: no redirect takes it along, not even to the same
// host.
//
// The protocols know no credentials for archives, and Terraform and OpenTofu send
// none. So this client is for archives only, and for users who asked for it.
func WithArchiveCredentials(client *http.Client, credentials Credentials) *http.Client {
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		owner, _ := req.Context().Value(archiveOwnerKey{}).(Hostname)
		redirected := req.Response != nil
		if owner == "" || redirected || req.Header.Get("Authorization") != "" {
			return next.RoundTrip(req)
		}
		// A copy: the client takes the headers of the next hop from the original.
		authorized := req.Clone(req.Context())
		if err := Authorize(req.Context(), credentials, owner, req.URL, authorized.Header); err != nil {
			return nil, err
		}
		return next.RoundTrip(authorized)
	})
}
