package modules

import (
	"net/url"
	"regexp"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

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
	remote.Package = hosts.RedactURL(u)
	if forced != "" {
		remote.Package = forced + "::" + remote.Package
	}
	return remote.String()
}

// shownSource is shown for what is recorded, which may be no address.
func shownSource(source string) string {
	if address, err := ParseAddress(source); err == nil {
		return shown(address)
	}
	return withoutLogin(source)
}

var login = regexp.MustCompile(`//[^/\s]*@|^[^/\s@]*:[^/\s@]*@`)

// withoutLogin takes the login out of what looks like a URL and isn't one.
func withoutLogin(text string) string {
	return login.ReplaceAllString(text, "//REDACTED@")
}
