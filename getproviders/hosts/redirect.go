package hosts

import (
	"fmt"
	"net/http"
	"slices"
)

// redirectPolicy follows at most limit redirects, to any host, by https and
// http. What identifies the user stays with the origin that it was meant for:
// the standard library would also send it to subdomains and other ports, and
// to plain http. It isn't sent again when the way leads back, because it is
// somebody else who chose that. The address that redirected isn't told to the
// next host.
func redirectPolicy(limit int) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if len(via) > limit {
			return fmt.Errorf("stopped after %d redirects", limit)
		}
		next.Header.Del("Referer")
		left := func(hop *http.Request) bool { return !SameOrigin(hop.URL, via[0].URL) }
		if left(next) || slices.ContainsFunc(via, left) {
			for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
				next.Header.Del(name)
			}
		}
		return nil
	}
}
