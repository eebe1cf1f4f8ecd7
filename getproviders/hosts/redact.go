package hosts

import (
	"net/url"
	"slices"
	"strings"
)

const redacted = "REDACTED"

// RedactURL returns a URL as it may stand in messages and logs: without
// userinfo and fragment, and with every query value replaced, but those of the
// parameters that are named harmless. The names of query parameters stay, as
// they help to find out what a signed URL was for.
func RedactURL(u *url.URL, harmless ...string) string {
	if u == nil {
		return ""
	}
	if u.Opaque != "" {
		return u.Scheme + ":" + redacted
	}
	safe := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: redactQuery(u.RawQuery, harmless)}
	return safe.String()
}

// redactQuery works on the text, so that what can't be parsed is covered too.
// A parameter without "=" may be a value.
func redactQuery(query string, harmless []string) string {
	if query == "" {
		return ""
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		name, _, ok := strings.Cut(p, "=")
		switch {
		case ok && slices.Contains(harmless, name):
		case ok:
			params[i] = name + "=" + redacted
		case p != "":
			params[i] = redacted
		}
	}
	return strings.Join(params, "&")
}
