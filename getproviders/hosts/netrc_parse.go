package hosts

import (
	"net"
	"net/url"
	"strings"
)

// netrc is what a .netrc file says, in its order.
type netrc []netrcEntry

// netrcEntry is the login for a machine.
type netrcEntry struct {
	machine        string // in lower case, with a port if the file gives one; "": the default entry
	user, password string
}

// parseNetrc reads the format that ftp, curl and others share: words, separated
// by any white space, of which "machine NAME" and "default" start an entry and
// "login", "password" and "account" say something about it. Words that nobody
// knows, comments, and macro definitions, which end with an empty line, are passed over:
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
	for _, e := range n {
		if e.machine != "" && (e.machine == onPort || e.machine == name && onDefaultPort) {
			return e, e.user != "" || e.password != ""
		}
	}
	for _, e := range n {
		if orDefault && e.machine == "" {
			return e, e.user != "" || e.password != ""
		}
	}
	return netrcEntry{}, false
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
