package hosts

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Confidential reports whether what is said to a URL stays between the two
// ends: it is https, or http on a loopback address, where no other machine
// listens.
func Confidential(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// SameOrigin reports whether two URLs have scheme, host and port in common.
// What was given to one of them may be given to the other.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	case u.Scheme == "http":
		return "80"
	default:
		return ""
	}
}

// confidentialWay reports whether a response came to us in confidence over all
// the redirects that led to it, so that nobody else can have written it.
func confidentialWay(resp *http.Response) bool {
	for resp != nil && resp.Request != nil {
		if !Confidential(resp.Request.URL) {
			return false
		}
		resp = resp.Request.Response // the redirect that led here
	}
	return true
}

// HostnameOf returns the host and port of a URL, http or https, as credentials
// know it. In a URL, other than in the names that users write, punycode is
// fine.
func HostnameOf(u *url.URL) (Hostname, error) {
	given := u.Host
	if u.Scheme == "http" && u.Port() == "" {
		given += ":80" // a Hostname without a port means 443
	}
	name, err := Hostname(strings.ToLower(given)).display()
	if err != nil {
		return "", fmt.Errorf("invalid hostname %q: %w", u.Host, err)
	}
	return ParseHostname(name)
}
