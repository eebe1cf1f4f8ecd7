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

// NetrcFiles returns the places where a .netrc file may be: what the variable
// NETRC names, and nothing else; or .netrc of the user's home, before which
// Windows has _netrc. Env returns the value of a variable, "" if there is none.
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

// WithNetrc returns a client that does what the given one does, and sends
// users and passwords, by basic authentication, to the machines that the first
// existing file names. The file is read once, with the first request; that it
// can't be read is an error of each request.
//
// The client is for archives only: Terraform and OpenTofu use .netrc for nothing else.
// A request that has an Authorization header or a URL with a user is left
// alone. Each redirect is looked up by its own host. A machine without a port
// stands for the scheme's default port.
//
// Differences to Terraform and OpenTofu: nothing is sent where others could read along
// (see [Confidential]); the "default" entry is for the host of the URL that was asked
// for, and for no other that it redirects to; a default port or capitals in
// the URL don't matter; and an unknown word is skipped, where they
// give up and show it, though it may be a password.
func WithNetrc(client *http.Client, files []string) *http.Client {
	var parsed par.Memo[struct{}, netrc]
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		if req.Header.Get("Authorization") != "" || !Confidential(req.URL) {
			return next.RoundTrip(req)
		}
		file, err := parsed.Do(req.Context(), struct{}{}, func(context.Context) (netrc, error) {
			_, found, err := readNetrc(files)
			return found, err
		})
		if err != nil {
			return nil, err
		}
		redirected := req.Response != nil
		if entry, ok := file.find(req.URL, !redirected); ok {
			// A copy: the client takes the headers of the next hop from the original.
			req = req.Clone(req.Context())
			req.SetBasicAuth(entry.user, entry.password)
		}
		return next.RoundTrip(req)
	})
}

// netrcBytes is far more than any .netrc has.
const netrcBytes = 1 << 20

// readNetrc reads the first file that exists, and says which one that is.
func readNetrc(files []string) (string, netrc, error) {
	for _, path := range files {
		src, err := wholefile.ReadAny(path, netrcBytes)
		switch {
		case err == nil:
			return path, parseNetrc(strings.ReplaceAll(string(src), "\r\n", "\n")), nil
		case !errors.Is(err, fs.ErrNotExist) && seen(path):
			return path, nil, fmt.Errorf("the user's logins can't be read: %w", err)
		}
	}
	return "", nil, nil
}

// NetrcMachines returns the first existing one of the files that [NetrcFiles] lists, and the machines
// that it has a login for, without the logins, in its order: as the file writes them, and "" for
// the default entry. Without any file, file is "".
func NetrcMachines(files []string) (file string, machines []string, err error) {
	file, found, err := readNetrc(files)
	for _, entry := range found {
		machines = append(machines, entry.machine)
	}
	return file, machines, err
}

// seen reports whether there is something at a path. In a home that is no
// directory, or that this user may not read, this user has no logins.
func seen(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// netrc is what a .netrc file says, in its order.
type netrc []netrcEntry

// netrcEntry is the login for a machine.
type netrcEntry struct {
	machine        string // in lower case, with a port if the file gives one; "": the default entry
	user, password string
}

// parseNetrc reads the format that ftp, curl and others share: words, separated
// by any white space, of which "machine NAME" and "default" start an entry and
// "login", "password" and "account" say something about it. Words that no program
// knows, comments, and macro definitions, which end with an empty line, are skipped:
// the file may be meant for other programs as well.
func parseNetrc(text string) netrc {
	var parsed netrc
	entry := &netrcEntry{} // what stands before the first entry is lost
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

// find returns the first entry for a URL's host, or else, if that is wanted,
// the first default entry. An entry without user and password is none.
func (n netrc) find(u *url.URL, orDefault bool) (netrcEntry, bool) {
	name, port := strings.ToLower(u.Hostname()), portOf(u)
	onPort, onDefaultPort := net.JoinHostPort(name, port), port == portOf(&url.URL{Scheme: u.Scheme})
	i := slices.IndexFunc(n, func(e netrcEntry) bool {
		return e.machine != "" && (e.machine == onPort || e.machine == name && onDefaultPort)
	})
	if i < 0 && orDefault {
		i = slices.IndexFunc(n, func(e netrcEntry) bool { return e.machine == "" })
	}
	if i < 0 {
		return netrcEntry{}, false
	}
	return n[i], n[i].user != "" || n[i].password != ""
}

// netrcWords walks through a file.
type netrcWords struct{ rest string }

const netrcSpace = " \t\r\n\f\v"

// next returns the next word; "" at the end.
func (w *netrcWords) next() string {
	w.rest = strings.TrimLeft(w.rest, netrcSpace)
	word := w.rest
	if end := strings.IndexAny(word, netrcSpace); end >= 0 {
		word = word[:end]
	}
	w.rest = w.rest[len(word):]
	return word
}

// skipPast goes on after the next occurrence of mark, or at the end.
func (w *netrcWords) skipPast(mark string) { _, w.rest, _ = strings.Cut(w.rest, mark) }
