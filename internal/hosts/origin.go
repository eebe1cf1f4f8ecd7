package hosts

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Confidential reports whether only the two ends can read the requests to a URL: it is https, or
// http on a loopback address.
func Confidential(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// SameOrigin reports whether two URLs have the same scheme, host and port. The same credentials may
// be sent to both.
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

// HostnameOf returns the host and port of an http or https URL, for credentials. Unlike in names
// that users write, punycode is allowed.
func HostnameOf(u *url.URL) (Hostname, error) {
	given := u.Host
	if u.Scheme == "http" && u.Port() == "" {
		given += ":80" // a Hostname without a port means 443
	}
	return parseEncoded(given)
}

const redacted = "REDACTED"

// RedactURL returns a URL for messages and logs: without userinfo and fragment, and with every
// query value replaced, except those of harmless parameters. It keeps the user of an ssh URL, and the names of query
// parameters, which help to recognise a signed URL. What a user wrote is for [RedactAddress].
func RedactURL(u *url.URL, harmless ...string) string {
	if u == nil {
		return ""
	}
	if u.Opaque != "" {
		return u.Scheme + ":" + redacted
	}
	safe := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: redactQuery(u.RawQuery, harmless)}

	user := u.User.Username()
	if user != "" && isSSH(u.Scheme) { // without it, ssh takes another user
		safe.User = url.User(user)
	}
	return safe.String()
}

// redactQuery works on the text, so that it also covers queries that can't be parsed. A parameter
// without "=" may be a value.
func redactQuery(query string, harmless []string) string {
	if query == "" {
		return ""
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		name, value, ok := strings.Cut(p, "=")
		switch {
		case ok && slices.Contains(harmless, name) && !hasLogin(value):
		case ok:
			params[i] = name + "=" + redacted
		case p != "":
			params[i] = redacted
		}
	}
	return strings.Join(params, "&")
}

// digestOnly matches a checksum, perhaps with the name of its algorithm.
var digestOnly = par.OnceRegexp(`^[0-9A-Za-z]+:[0-9A-Fa-f]+$`)

// hasLogin reports whether the value of a parameter is an address with a login, as that of a list of checksums may be.
func hasLogin(value string) bool {
	unescaped, err := url.QueryUnescape(value)
	if err != nil {
		unescaped = value
	}
	if digestOnly().MatchString(unescaped) {
		return false
	}

	u, err := url.Parse(unescaped)
	if err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && isPlausible(u, nil) {
		return false
	}
	return strings.Contains(unescaped, ":")
}
