package git

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

const redacted = "REDACTED"

// What is quoted of git at most: the reason comes last.
const (
	saidLines = 6
	lineBytes = 400
)

// login finds the logins of URLs, those that the user's set-up has put into
// them among them.
var login = regexp.MustCompile(`(://)[^/\s'"]*@`)

// shownURL returns a URL as it may stand in messages.
func shownURL(address string) string {
	if !strings.Contains(address, "://") {
		path := address
		if i := strings.IndexByte(address, '@'); i >= 0 && !strings.Contains(address[:i], "/") {
			path = address[i+1:]
		}
		return printable(path)
	}
	u, err := url.Parse(address)
	if err != nil {
		address, _, _ = strings.Cut(address, "?")
		return printable(login.ReplaceAllString(address, "$1"))
	}
	return hosts.RedactURL(u)
}

// quote returns the last lines that git said about a repository, without
// the URL's secrets, in one line.
func quote(said string, address string) string {
	said = hideSecrets(address).Replace(said)
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		line = printable(line[strings.LastIndexByte(line, '\r')+1:]) // what a terminal would show last
		if line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line[:min(len(line), lineBytes)])
		}
	}
	lines = lines[max(0, len(lines)-saidLines):]
	return strings.ToValidUTF8(login.ReplaceAllString(strings.Join(lines, "; "), "$1"), "")
}

// hideSecrets finds what a URL has for a login and in its query, wherever it
// stands and however it is written. It works on the text, so that what can't be
// parsed is covered too.
func hideSecrets(address string) *strings.Replacer {
	pairs := []string{address, shownURL(address)}
	hide := func(secret string) {
		unescaped, err := url.QueryUnescape(secret)
		if err != nil {
			unescaped = secret
		}
		path, err := url.PathUnescape(secret)
		if err != nil {
			path = secret
		}
		for _, form := range []string{secret, unescaped, path} {
			if form != "" {
				pairs = append(pairs, form, redacted)
			}
		}
	}
	address, query, _ := strings.Cut(address, "?")
	for param := range strings.SplitSeq(query, "&") {
		_, value, _ := strings.Cut(param, "=")
		hide(value)
	}
	scheme, rest, _ := strings.Cut(address, "://")
	authority, _, _ := strings.Cut(rest, "/")
	user, password, found := strings.Cut(authority[:max(0, strings.LastIndexByte(authority, '@'))], ":")
	hide(password)
	// Alone it is a token; with ssh it is who "git" is.
	if !found && strings.HasPrefix(scheme, "http") {
		hide(user)
	}
	return strings.NewReplacer(pairs...)
}

// printable leaves out what a terminal could obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
