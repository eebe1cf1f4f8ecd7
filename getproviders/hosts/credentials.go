package hosts

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Credentials knows the tokens with which hosts are asked. It is safe for many
// goroutines. A token is a secret: neither Credentials nor their users put one
// into an error or a log.
type Credentials interface {
	// Token returns the token for a host and its port; "" means that there is
	// none, and requests go without.
	Token(ctx context.Context, host Hostname) (string, error)
}

// Authorize adds the token of a host to the header of a request to target, if
// there is one. Without credentials (nil) it does nothing; neither does it
// where others could read along (see [Confidential]), though the real tools
// send tokens there.
//
// The target may be on another host: a token belongs to the host that users
// write in addresses, and what that host's discovery document declares to be
// its services gets the token, too.
func Authorize(ctx context.Context, credentials Credentials, host Hostname, target *url.URL, header http.Header) error {
	if credentials == nil || !Confidential(target) {
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

// TokenVariable names the environment variable that holds a host's token: a
// dot is an underscore there, and a dash is two. It is "" for a host with a
// port, for which no shell could set one.
func TokenVariable(host Hostname) string {
	if strings.Contains(host.ASCII(), ":") {
		return ""
	}
	return "TF_TOKEN_" + strings.NewReplacer(".", "_", "-", "__").Replace(host.ASCII())
}
