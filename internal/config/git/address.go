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

// maxAddressBytes is longer than any real URL or ref, and short enough for a command line.
const maxAddressBytes = 4096

// transports are the schemes that git itself implements. For others git starts helper programs, and
// some of those run commands.
var transports = []string{"http", "https", "ssh", "git", "git+ssh", "ssh+git", "file"}

// helperURL is ext::command, or another remote helper of git.
var helperURL = par.OnceRegexp(`^[\w+.-]*::`)

// schemeURL has a scheme and an authority.
var schemeURL = par.OnceRegexp(`^([^:/]*)://([^/]*)`)

// scpURL is host:path or user@[::1]:path.
var scpURL = par.OnceRegexp(`^([^/:]+|[^/:]*\[[^/\]]*\]):`)

// check refuses values that git could interpret as something other than a URL and a ref.
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

// checkAuthority refuses other transports, and hosts that ssh would interpret as an option.
func checkAuthority(scheme, authority string) error {
	if !slices.Contains(transports, strings.ToLower(scheme)) {
		return fmt.Errorf("%w: %q is not one of the transports %s", ErrAddress, scheme, strings.Join(transports, ", "))
	}
	if strings.HasPrefix(strings.ToLower(scheme), "http") {
		return nil // ssh never gets an http URL
	}
	user, host, found := strings.Cut(authority, "@")
	if strings.HasPrefix(user, "-") || found && strings.HasPrefix(host[strings.LastIndexByte(host, '@')+1:], "-") {
		return fmt.Errorf("%w: its host begins with a dash", ErrAddress)
	}
	return nil
}

// checkText refuses options, and text that can't be an argument or would break a line.
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

// isLocal reports whether a checked URL is in the file system.
func isLocal(address string) bool {
	m := schemeURL().FindStringSubmatch(address)
	return m != nil && strings.EqualFold(m[1], "file") || m == nil && filepath.IsAbs(address)
}

// identity returns an http URL without its login, which doesn't change the repository's content. It
// identifies a store, and a login with a new token for each run must not create a new store.
func identity(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return address
	}
	u.User = nil
	return u.String()
}

// submoduleURL returns the URL of a submodule, which may be relative to the repository's: each
// "../" removes a part of that, up to the last slash, or up to the last colon without a slash.
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

// How much of git's output is quoted: the reason comes last.
const (
	saidLines = 6
	lineBytes = 400
)

// login matches the logins in URLs, also those that the user's git configuration adds.
var login = par.OnceRegexp(`(://)[^/\s'"]*@`)

// shownURL returns a URL for messages.
func shownURL(address string) string { return printable(hosts.RedactAddress(address)) }

// quote returns the last lines of git's output about a repository, without the URL's secrets,
// joined to one line.
func quote(said string, address string) string {
	said = HideSecrets(address).Replace(said)
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		line = printable(line[strings.LastIndexByte(line, '\r')+1:]) // the visible text on a terminal
		if line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line[:min(len(line), lineBytes)])
		}
	}
	lines = lines[max(0, len(lines)-saidLines):]
	return strings.ToValidUTF8(login().ReplaceAllString(strings.Join(lines, "; "), "$1"), "")
}

// HideSecrets returns a replacer for the login and query values of a URL, in any escaping. It works
// on the text, so that it also covers URLs that can't be parsed.
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
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		if user, _, ok := strings.Cut(address, "@"); ok && user != "git" && !filepath.IsAbs(address) {
			hide(user)
		}
		return strings.NewReplacer(pairs...)
	}
	authority, _, _ := strings.Cut(rest, "/")
	user, password, found := strings.Cut(authority[:max(0, strings.LastIndexByte(authority, '@'))], ":")
	hide(password)
	// A user alone is a token; for ssh it is a user name, such as "git".
	if !found && strings.HasPrefix(scheme, "http") {
		hide(user)
	}
	return strings.NewReplacer(pairs...)
}

// printable removes characters that a terminal could interpret.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
