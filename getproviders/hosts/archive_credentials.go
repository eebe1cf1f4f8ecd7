package hosts

import (
	"context"
	"net/http"
)

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
// The protocols know no credentials for archives, and the real tools send
// none. So this client is for archives only, and for users who asked for it.
func WithArchiveCredentials(client *http.Client, credentials Credentials) *http.Client {
	return onTop(client, func(next layer) http.RoundTripper { return &archiveCredentials{next, credentials} })
}

// archiveCredentials is the layer on top of a client's stack: it sees each hop
// once, retries happen below it.
type archiveCredentials struct {
	layer
	credentials Credentials
}

// RoundTrip implements http.RoundTripper.
func (c *archiveCredentials) RoundTrip(req *http.Request) (*http.Response, error) {
	owner, _ := req.Context().Value(archiveOwnerKey{}).(Hostname)
	redirected := req.Response != nil
	if owner == "" || redirected || req.Header.Get("Authorization") != "" {
		return c.next.RoundTrip(req)
	}
	// A copy: the client takes the headers of the next hop from the original.
	authorized := req.Clone(req.Context())
	if err := Authorize(req.Context(), c.credentials, owner, req.URL, authorized.Header); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	return c.next.RoundTrip(authorized)
}
