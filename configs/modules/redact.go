package modules

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// harmless are the parameters of package addresses whose values are no secrets.
var harmless = []string{"archive", "checksum", "depth", "ref", "rev"}

// shown returns an address as it may stand in messages: whoever needs a login
// for a repository may have written it into the URL.
func shown(address Address) string {
	remote, ok := address.(Remote)
	if !ok {
		return address.String()
	}
	forced, location := splitForced(remote.Package)
	u, err := url.Parse(location)
	if err != nil {
		return withoutLogin(remote.String())
	}
	remote.Package = hosts.RedactURL(u, harmless...)
	if forced != "" {
		remote.Package = forced + "::" + remote.Package
	}
	return remote.String()
}

// Redact returns a source address, or what was meant for one, as it may stand in
// messages: without a login. One that has no place for a login is as it was written.
func Redact(source string) string {
	address, err := parseComplete(source)
	if err != nil {
		return withoutLogin(source)
	}
	if _, ok := address.(Remote); !ok {
		return source // no place for a login
	}
	return shown(address)
}

var login = regexp.MustCompile(`//[^/\s]*@|^[^/\s@]*:[^/\s@]*@`)

// withoutLogin takes the login, and the values of a query, out of what looks
// like a URL and isn't one.
func withoutLogin(text string) string {
	text, query, asks := strings.Cut(text, "?")
	text = login.ReplaceAllString(text, "//REDACTED@")
	if asks {
		text += hosts.RedactURL(&url.URL{RawQuery: query}, harmless...)
	}
	return text
}
