package hosts

import "net/http"

// userAgent names the program in requests that don't name one.
type userAgent struct {
	layer
	name string
}

// RoundTrip implements http.RoundTripper.
func (u *userAgent) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("User-Agent") != "" {
		return u.next.RoundTrip(req)
	}
	named := req.Clone(req.Context())
	named.Header.Set("User-Agent", u.name)
	return u.next.RoundTrip(named)
}
