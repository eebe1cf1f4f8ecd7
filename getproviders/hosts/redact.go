package hosts

import (
	"net/url"
	"strings"
)

const redacted = "REDACTED"

// RedactURL returns a URL as it may stand in messages and logs: without
// userinfo and fragment, and with every query value replaced. The names of
// query parameters stay, as they help to find out what a signed URL was for.
func RedactURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	if u.Opaque != "" {
		return u.Scheme + ":" + redacted
	}
	safe := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: redactQuery(u.RawQuery)}
	return safe.String()
}

// redactQuery works on the text, so that what can't be parsed is covered too.
// A parameter without "=" may be a value.
func redactQuery(query string) string {
	if query == "" {
		return ""
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		if name, _, ok := strings.Cut(p, "="); ok {
			params[i] = name + "=" + redacted
		} else if p != "" {
			params[i] = redacted
		}
	}
	return strings.Join(params, "&")
}
