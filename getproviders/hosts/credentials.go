package hosts

import (
	"context"
	"fmt"
	"net/http"
)

// Credentials knows the tokens with which hosts are asked. It is safe for many
// goroutines. A token is a secret: neither Credentials nor their users put one
// into an error or a log.
type Credentials interface {
	// Token returns the token for a host and its port; "" means that there is
	// none, and requests go without.
	Token(ctx context.Context, host Hostname) (string, error)
}

// Authorize adds the token of a host to a request's header, if there is one.
// Without credentials (nil) it does nothing.
func Authorize(ctx context.Context, credentials Credentials, host Hostname, header http.Header) error {
	if credentials == nil {
		return nil
	}
	token, err := credentials.Token(ctx, host)
	if err != nil {
		return fmt.Errorf("failed to retrieve credentials for %s: %w", host, err)
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return nil
}
