package hosts

import (
	"fmt"
	"net/http"
	"net/url"
)

// redirectPolicy follows at most limit redirects, to any host, by https and
// http. What identifies the user stays with the host that it was meant for; the
// standard library would also send it to subdomains and other ports. The
// address that redirected isn't told to the next host.
func redirectPolicy(limit int) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if len(via) > limit {
			return fmt.Errorf("stopped after %d redirects", limit)
		}
		next.Header.Del("Referer")
		if !sameOrigin(next.URL, via[0].URL) {
			for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
				next.Header.Del(name)
			}
		}
		return nil
	}
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
