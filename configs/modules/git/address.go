package git

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxAddressBytes is more than any URL or ref has, and less than what a
// command line can hold.
const maxAddressBytes = 4096

// transports are the schemes that git itself speaks over. Others it would look
// for among programs, and some of those run commands.
var transports = []string{"http", "https", "ssh", "git", "git+ssh", "ssh+git", "file"}

var (
	helperURL = regexp.MustCompile(`^[\w+.-]*::`)                  // ext::command, and whatever else has a git-remote-something
	schemeURL = regexp.MustCompile(`^([^:/]*)://([^/]*)`)          // scheme and authority
	scpURL    = regexp.MustCompile(`^([^/:]+|[^/:]*\[[^/\]]*\]):`) // host:path, user@[::1]:path
)

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
	if helperURL.MatchString(address) {
		return fmt.Errorf("%w: remote helpers, such as ext::, are not supported", ErrAddress)
	}
	if filepath.IsAbs(address) {
		return nil
	}
	if m := schemeURL.FindStringSubmatch(address); m != nil {
		return checkAuthority(m[1], m[2])
	}
	if scpURL.MatchString(address) {
		return checkAuthority("ssh", scpURL.FindString(address))
	}
	return fmt.Errorf("%w: it is neither a URL nor an absolute path", ErrAddress)
}

// checkAuthority refuses other transports, and hosts that ssh would take for an
// option.
func checkAuthority(scheme, authority string) error {
	if !slices.Contains(transports, strings.ToLower(scheme)) {
		return fmt.Errorf("%w: %q is none of the transports %s", ErrAddress, scheme, strings.Join(transports, ", "))
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
	m := schemeURL.FindStringSubmatch(address)
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
		if at < 0 || schemeURL.MatchString(parent) && at < len(schemeURL.FindString(parent)) {
			return "", fmt.Errorf("%w: %q leads out of the server", ErrAddress, child)
		}
		base = base[:at]
	}
}
