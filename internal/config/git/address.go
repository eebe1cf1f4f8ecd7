package git

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// maxAddressBytes is more than any URL or ref has, and less than what a
// command line can hold.
const maxAddressBytes = 4096

// transports are the schemes that git itself speaks over. Others it would look
// for among programs, and some of those run commands.
var transports = []string{"http", "https", "ssh", "git", "git+ssh", "ssh+git", "file"}

// helperURL is ext::command, and whatever else has a git-remote-something.
var helperURL = par.OnceRegexp(`^[\w+.-]*::`)

// schemeURL has scheme and authority.
var schemeURL = par.OnceRegexp(`^([^:/]*)://([^/]*)`)

// scpURL is host:path or user@[::1]:path.
var scpURL = par.OnceRegexp(`^([^/:]+|[^/:]*\[[^/\]]*\]):`)

// check refuses what git could take for something else than a URL and a ref.
func (req Request) check() error {
	if err := checkURL(req.URL); err != nil {
		return err
	}
	if err := checkText(req.Ref); err != nil {
		return fmt.Errorf("%w: the ref %w", ErrAddress, err)
	}
	return nil
}

func checkURL(address string) error {
	if address == "" {
		return fmt.Errorf("%w: it is empty", ErrAddress)
	}
	if err := checkText(address); err != nil {
		return fmt.Errorf("%w: it %w", ErrAddress, err)
	}
	if helperURL().MatchString(address) {
		return fmt.Errorf("%w: remote helpers, such as ext::, are not supported", ErrAddress)
	}
	if filepath.IsAbs(address) {
		return nil
	}
	if m := schemeURL().FindStringSubmatch(address); m != nil {
		return checkAuthority(m[1], m[2])
	}
	if scpURL().MatchString(address) {
		return checkAuthority("ssh", scpURL().FindString(address))
	}
	return fmt.Errorf("%w: it is neither a URL nor an absolute path", ErrAddress)
}

// checkAuthority refuses other transports, and hosts that ssh would take for an
// option.
func checkAuthority(scheme, authority string) error {
	if !slices.Contains(transports, strings.ToLower(scheme)) {
		return fmt.Errorf("%w: %q is not one of the transports %s", ErrAddress, scheme, strings.Join(transports, ", "))
	}
	if strings.HasPrefix(strings.ToLower(scheme), "http") {
		return nil // and no token either
	}
	user, host, found := strings.Cut(authority, "@")
	if strings.HasPrefix(user, "-") || found && strings.HasPrefix(host[strings.LastIndexByte(host, '@')+1:], "-") {
		return fmt.Errorf("%w: its host begins with a dash", ErrAddress)
	}
	return nil
}

// checkText refuses options, and what can't be an argument or would break a
// line.
func checkText(text string) error {
	switch {
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("begins with a dash")
	case len(text) > maxAddressBytes:
		return fmt.Errorf("has more than %d bytes", maxAddressBytes)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("has a control character in it")
	}
	return nil
}

// isLocal reports whether a URL that has been checked is one of the file
// system.
func isLocal(address string) bool {
	m := schemeURL().FindStringSubmatch(address)
	return m != nil && strings.EqualFold(m[1], "file") || m == nil && filepath.IsAbs(address)
}

// identity is a URL without the login that http has in it: the login decides
// who may ask, not what is there. It says whose commits lie in a store, and
// tokens that are new for each run must not make a new one.
func identity(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return address
	}
	u.User = nil
	return u.String()
}

// submoduleURL returns the URL of a submodule, which may be relative to the
// repository's: each "../" takes a part off that, up to the last slash, or the
// last colon where there is no slash left.
func submoduleURL(parent, child string) (string, error) {
	if !strings.HasPrefix(child, "./") && !strings.HasPrefix(child, "../") {
		return child, nil
	}
	base, separator := strings.TrimRight(parent, "/"), "/"
	for {
		if rest, ok := strings.CutPrefix(child, "./"); ok {
			child = strings.TrimLeft(rest, "/")
			continue
		}
		rest, ok := strings.CutPrefix(child, "../")
		if !ok {
			return base + separator + strings.TrimRight(child, "/"), nil
		}
		child = strings.TrimLeft(rest, "/")
		at := strings.LastIndexByte(base, '/')
		if separator = "/"; at < 0 {
			at, separator = strings.LastIndexByte(base, ':'), ":"
		}
		if at < 0 || schemeURL().MatchString(parent) && at < len(schemeURL().FindString(parent)) {
			return "", fmt.Errorf("%w: %q leads out of the server", ErrAddress, child)
		}
		base = base[:at]
	}
}

const redacted = "REDACTED"

// What is quoted of git at most: the reason comes last.
const (
	saidLines = 6
	lineBytes = 400
)

// login finds the logins of URLs, those that the user's set-up has put into
// them among them.
var login = par.OnceRegexp(`(://)[^/\s'"]*@`)

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
		return printable(login().ReplaceAllString(address, "$1"))
	}
	return hosts.RedactURL(u)
}

// quote returns the last lines that git said about a repository, without
// the URL's secrets, in one line.
func quote(said string, address string) string {
	said = HideSecrets(address).Replace(said)
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		line = printable(line[strings.LastIndexByte(line, '\r')+1:]) // what a terminal would show last
		if line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line[:min(len(line), lineBytes)])
		}
	}
	lines = lines[max(0, len(lines)-saidLines):]
	return strings.ToValidUTF8(login().ReplaceAllString(strings.Join(lines, "; "), "$1"), "")
}

// HideSecrets finds what a URL has for a login and in its query, wherever it
// stands and however it is written. It works on the text, so that what can't be
// parsed is covered too.
func HideSecrets(address string) *strings.Replacer {
	pairs := []string{address, shownURL(address)}
	hide := func(secret string) {
		unescaped, _ := url.QueryUnescape(secret)
		path, _ := url.PathUnescape(secret)
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
