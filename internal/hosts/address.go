package hosts

import (
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/par"
)

// RedactAddress returns an address as a user wrote it, for messages and logs: without a login, and with every query
// value replaced but those of harmless parameters. An address is a URL, a short form of one such as
// "git@example.com:a/b.git", or a path, and may begin with a method such as "git::".
//
// It works on the text if that is no URL, and where a URL seems to be the result of a mistake: then a password may be
// what looks like the host, the port, the path or the query. Whatever may be a login is replaced, also if it is none.
//
// Two names are no secrets, because commands need them: the user of an ssh URL, and "git" before a host.
func RedactAddress(address string, harmless ...string) string {
	shown, _ := redactAddress(address, harmless)
	return shown
}

// AddressHasSecrets reports whether [RedactAddress] would hide a part of a text.
func AddressHasSecrets(text string, harmless ...string) bool {
	_, hides := redactAddress(text, harmless)
	return hides
}

// methods matches "git::" and the like at the beginning of an address. Other names may be users.
var methods = par.OnceRegexp(`^(?:(?:git|hg|s3|gcs|https?|file|oci)::)*`)

func redactAddress(address string, harmless []string) (shown string, hides bool) {
	method := methods().FindString(address)
	location := address[len(method):]

	u, err := url.Parse(location)
	if err == nil && isPlausible(u, harmless) {
		shown, hides = redactParsed(u, harmless)
	} else {
		shown, hides = redactText(location, harmless, method != "")
	}
	return method + shown, hides
}

// isPlausible reports whether a URL has the parts that its scheme needs, and its host isn't the beginning of a login:
// a "/", "?" or "#" in a password ends the host too early, so that "@" comes later.
func isPlausible(u *url.URL, harmless []string) bool {
	switch {
	case u.Scheme == "file":
		return u.Opaque == ""
	case u.Scheme == "" || u.Host == "":
		return false
	case isHostname(u.Hostname()):
		return true
	}
	isOdd := func(param string) bool {
		name, _, _ := strings.Cut(param, "=")
		return hasAtSign(param) && !slices.Contains(harmless, name)
	}
	return !hasAtSign(u.Path) && !hasAtSign(u.Fragment) && !slices.ContainsFunc(strings.Split(u.RawQuery, "&"), isOdd)
}

// isHostname reports whether a text is rather a host than a user.
func isHostname(text string) bool {
	return strings.Contains(text, ".") || strings.EqualFold(text, "localhost") || net.ParseIP(text) != nil
}

// loginInPath matches a login behind a host that was put before a whole URL.
var loginInPath = par.OnceRegexp(`[^/]*:.*@`)

func redactParsed(u *url.URL, harmless []string) (shown string, hides bool) {
	safe := *u
	if u.Scheme != "file" && loginInPath().MatchString(u.Path) {
		safe.Path = loginInPath().ReplaceAllString(u.Path, redacted+"@")
		safe.RawPath = ""
		hides = true
	}

	_, hasPassword := u.User.Password()
	hides = hides || hasPassword
	hides = hides || u.User != nil && !isSSH(u.Scheme)
	hides = hides || redactQuery(u.RawQuery, harmless) != u.RawQuery

	return RedactURL(&safe, harmless...), hides
}

// opening matches the beginning of a URL, also with too few or too many slashes.
var opening = par.OnceRegexp(`(?i)^(?:(?:https?|ssh|git|git\+ssh|ssh\+git|hg|s3|gcs|gs|oci|ftp|file):[/\\]*|[a-z][a-z0-9+.-]*:[/\\]{2,}|:?//+)`)

// redactText redacts what isn't a plausible URL. isAddress says that it is an address all the same, and no other text.
func redactText(text string, harmless []string, isAddress bool) (shown string, hides bool) {
	begin := opening().FindString(text)
	rest := text[len(begin):]
	isAddress = isAddress || begin != "" || scpOfGit().MatchString(text)

	login, rest := cutLogin(begin, rest)
	if login != "" {
		begin += shownLogin(begin, login)
		hides = true
	}

	path, query, asks := strings.Cut(rest, "?")
	shown = begin + path
	if asks {
		safe := redactQuery(query, harmless)
		shown += "?" + safe
		hides = hides || isAddress && safe != query
	}
	return shown, hides
}

// atSign also matches in a text that was escaped as a whole.
var atSign = par.OnceRegexp(`@|%40`)

func hasAtSign(text string) bool { return atSign().MatchString(text) }

// cutLogin returns what may be the login at the beginning of a text, with its "@", and what follows. begin is what the
// text follows, "" if it doesn't begin as a URL.
func cutLogin(begin, text string) (login, rest string) {
	signs := atSign().FindAllStringIndex(text, -1)
	if len(signs) == 0 {
		return cutLoginWithoutAt(begin, text)
	}
	last := signs[len(signs)-1]
	if begin == "" && !isLogin(text, text[:last[0]], text[last[1]:]) {
		return "", text
	}
	return text[:last[1]], text[last[1]:]
}

var (
	// scpOfGit is the short form of an address of git, perhaps with parameters.
	scpOfGit = par.OnceRegexp(`^git@[^:/@\s]+:[^@?]*(?:\?.*)?$`)
	// relativePath is a path that can't be anything else.
	relativePath = par.OnceRegexp(`^\.\.?[/\\]`)
	// hostWithPath has a host's name with a top-level domain.
	hostWithPath = par.OnceRegexp(`^[0-9A-Za-z.-]+\.[A-Za-z][0-9A-Za-z-]*[:/]`)
)

// isLogin reports whether what is before the last "@" of a text is a login, if the text doesn't begin as a URL. Paths
// may have an "@", and some write versions so: "acme/net/aws@1.0.0".
func isLogin(text, before, after string) bool {
	switch {
	case before == "git", scpOfGit().MatchString(text):
		return false
	case filepath.IsAbs(text), strings.HasPrefix(text, "/"), relativePath().MatchString(text):
		return false
	case strings.Contains(before, ":"), strings.Contains(before, "//"), !strings.Contains(before, "/"):
		return true
	}
	first, _, _ := strings.Cut(before, "/")
	return !strings.Contains(first, ".") && hostWithPath().MatchString(after)
}

// loginWithoutAt matches a user and a password, which can't be a port.
var loginWithoutAt = par.OnceRegexp(`^([^/?#:\[]+):[^/?#]*[^/?#0-9][^/?#]*`)

// cutLoginWithoutAt cuts off what is a login if "@" is missing after it.
func cutLoginWithoutAt(begin, text string) (login, rest string) {
	match := loginWithoutAt().FindStringSubmatch(text)
	if begin == "" || match == nil || isHostname(match[1]) {
		return "", text
	}
	return match[0], text[len(match[0]):]
}

// sshUser matches the user at the beginning of a login.
var sshUser = par.OnceRegexp(`^([^:/?#@%\s]+)(?::.*)?@$`)

// shownLogin returns what is shown in place of a login.
func shownLogin(begin, login string) string {
	scheme, _, _ := strings.Cut(begin, ":")
	if match := sshUser().FindStringSubmatch(login); isSSH(scheme) && match != nil {
		return match[1] + "@"
	}
	if hasAtSign(login) {
		return redacted + "@"
	}
	return redacted
}

// isSSH reports whether the user in a URL with this scheme is the name of an account, and no token.
func isSSH(scheme string) bool {
	return slices.Contains([]string{"ssh", "git+ssh", "ssh+git"}, strings.ToLower(scheme))
}
