package modulelock

import (
	"slices"
	"strings"
)

// harmless are the query parameters that say what is fetched, and no secret.
var harmless = []string{"ref", "depth", "archive", "checksum"}

// plainSource takes out of a source what may be a secret. It works on the text,
// because what is recorded needn't be a URL that can be parsed.
func plainSource(source string) string {
	source, _, _ = strings.Cut(source, "#")
	location, query, _ := strings.Cut(source, "?")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(param string) bool {
		name, _, _ := strings.Cut(param, "=")
		return !slices.Contains(harmless, name)
	})
	location = withoutUser(location)
	if len(kept) > 0 {
		location += "?" + strings.Join(kept, "&")
	}
	return location
}

// withoutUser takes out the user and password of a URL. The user that git logs
// in with by SSH is no secret, and belongs to the address.
func withoutUser(location string) string {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return location
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		slash = len(rest)
	}
	authority, path := rest[:slash], rest[slash:]
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return location
	}
	user, _, _ := strings.Cut(authority[:at], ":")
	host := authority[at+1:]
	if scheme == "ssh" || strings.HasSuffix(scheme, "::ssh") {
		host = user + "@" + host
	}
	return scheme + "://" + host + path
}
