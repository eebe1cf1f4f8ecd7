package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// NetrcFiles returns the possible paths of a .netrc file: only that of the variable NETRC, or
// .netrc in the user's home, on Windows after _netrc. Env returns the value of a variable, or "" if
// it isn't set.
func NetrcFiles(env func(string) string, home, goos string) []string {
	if file := env("NETRC"); file != "" {
		return []string{file}
	}
	var files []string
	if home != "" && goos == "windows" {
		files = append(files, filepath.Join(home, "_netrc"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".netrc"))
	}
	return files
}

// WithNetrc returns a copy of a client that sends users and passwords by basic authentication to
// the machines in the first existing file. The file is read once, at the first request; if it can't
// be read, each request fails.
//
// The client is for archives only: Terraform and OpenTofu use .netrc for nothing else. It doesn't
// change a request with an Authorization header or a user in the URL. It looks up each redirect by
// its own host. A machine without a port means all ports of the host for which no entry has the
// port, as curl has it.
//
// Differences from Terraform and OpenTofu: nothing is sent if others could read the request (see
// [Confidential]); the "default" entry is only for the host of the original URL, not for redirects,
// and never for a host with an entry, where they send it to each port that no entry names;
// a default port or upper case in the URL doesn't matter; and an unknown word is skipped, where
// they fail and show it, though it may be a password.
func WithNetrc(client *http.Client, files []string) *http.Client {
	var parsed par.Memo[struct{}, netrc]
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		if req.Header.Get("Authorization") != "" || !Confidential(req.URL) {
			return next.RoundTrip(req)
		}
		file, err := parsed.Do(req.Context(), struct{}{}, func(ctx context.Context) (netrc, error) {
			_, found, err := readNetrc(ctx, files)
			return found, err
		})
		if err != nil {
			return nil, err
		}
		redirected := req.Response != nil
		if entry, ok := file.find(req.URL, !redirected); ok {
			// Change a copy: http.Client copies the headers of the next hop from the original.
			req = req.Clone(req.Context())
			req.SetBasicAuth(entry.user, entry.password)
		}
		return next.RoundTrip(req)
	})
}

// netrcBytes is far more than any .netrc has.
const netrcBytes = 1 << 20

// readNetrc reads the first file that exists, and returns its path.
func readNetrc(ctx context.Context, files []string) (string, netrc, error) {
	for _, path := range files {
		src, err := wholefile.ReadAny(ctx, path, netrcBytes)
		switch {
		case err == nil:
			return path, parseNetrc(strings.ReplaceAll(string(src), "\r\n", "\n")), nil
		case !errors.Is(err, fs.ErrNotExist) && seen(path):
			return path, nil, fmt.Errorf("the user's logins can't be read: %w", err)
		}
	}
	return "", nil, nil
}

// NetrcMachines returns the first existing file of [NetrcFiles], and the machines that it has a login
// for, without the logins, in order: as written in the file, and "" for the default entry. file is ""
// if none exists.
func NetrcMachines(ctx context.Context, files []string) (file string, machines []string, err error) {
	file, found, err := readNetrc(ctx, files)
	for _, entry := range found {
		machines = append(machines, entry.machine)
	}
	return file, machines, err
}

// seen reports whether a path exists. If the home isn't a directory, or the user may not read it,
// the user has no logins.
func seen(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// netrc has the entries of a .netrc file, in order.
type netrc []netrcEntry

// netrcEntry is the login for a machine.
type netrcEntry struct {
	machine        string // in lower case, with a port if the file has one; "" for the default entry
	user, password string
}

// parseNetrc reads the format of ftp, curl and others: words, separated by white space. "machine
// NAME" and "default" start an entry; "login", "password" and "account" belong to it. It skips
// unknown words, comments, and macro definitions, which end with an empty line, because the file
// may be for other programs, too.
func parseNetrc(text string) netrc {
	var parsed netrc
	entry := &netrcEntry{} // words before the first entry are ignored
	words := &netrcWords{rest: text}
	for word := words.next(); word != ""; word = words.next() {
		switch {
		case word == "machine":
			name := words.next()
			if name == "" {
				return parsed
			}
			parsed = append(parsed, netrcEntry{machine: strings.ToLower(name)})
			entry = &parsed[len(parsed)-1]
		case word == "default":
			parsed = append(parsed, netrcEntry{})
			entry = &parsed[len(parsed)-1]
		case word == "login":
			entry.user = words.next()
		case word == "password":
			entry.password = words.next()
		case word == "account":
			words.next()
		case word == "macdef":
			words.skipPast("\n\n")
		case strings.HasPrefix(word, "#"):
			words.skipPast("\n")
		}
	}
	return parsed
}

// find returns the entry for a URL: one that names host and port, else one that names the host
// alone, else with orDefault the default entry; of several, the first. It returns false for an
// entry without user and password.
func (n netrc) find(u *url.URL, orDefault bool) (netrcEntry, bool) {
	host := strings.ToLower(u.Hostname())
	machines := []string{net.JoinHostPort(host, portOf(u)), host}
	if orDefault {
		machines = append(machines, "")
	}

	for _, machine := range machines {
		i := slices.IndexFunc(n, func(e netrcEntry) bool { return e.machine == machine })
		if i >= 0 {
			return n[i], n[i].user != "" || n[i].password != ""
		}
	}
	return netrcEntry{}, false
}

// netrcWords reads the words of a file.
type netrcWords struct{ rest string }

const netrcSpace = " \t\r\n\f\v"

// next returns the next word, or "" at the end.
func (w *netrcWords) next() string {
	w.rest = strings.TrimLeft(w.rest, netrcSpace)
	word := w.rest
	if end := strings.IndexAny(word, netrcSpace); end >= 0 {
		word = word[:end]
	}
	w.rest = w.rest[len(word):]
	return word
}

// skipPast continues after the next mark, or at the end.
func (w *netrcWords) skipPast(mark string) { _, w.rest, _ = strings.Cut(w.rest, mark) }
