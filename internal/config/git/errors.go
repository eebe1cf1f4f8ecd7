package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The reasons why there is no tree.
var (
	// ErrAddress: the URL or the ref isn't one that may be given to git.
	ErrAddress = errors.New("this is no address of a git repository")
	// ErrNotFound: the repository is there, the ref isn't.
	ErrNotFound = errors.New("the repository has no such ref")
	// ErrUnreachable: the repository isn't there, or can't be reached with
	// the login that git has.
	ErrUnreachable = errors.New("the repository can't be read")
	// ErrOffline: it isn't in the store, and nothing may be asked for.
	ErrOffline = errors.New("it is not in the store, and no repository may be asked while offline")
	// ErrNoProgram: there is no git.
	ErrNoProgram = errors.New("git is not installed: install it, or put it on PATH")
)

// Error says which repository and ref something went wrong with.
type Error struct {
	URL string // without login and query
	Ref string // "": the default branch
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Ref == "" {
		return fmt.Sprintf("git repository %s: %s", e.URL, e.Err)
	}
	return fmt.Sprintf("git repository %s, ref %s: %s", e.URL, strconv.Quote(e.Ref), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// failure adds the repository and the ref to an error. Where the context ended, its cause
// takes the place of the error.
func failure(ctx context.Context, req Request, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Error{URL: shownURL(req.URL), Ref: req.Ref, Err: err}
}

// exitError is a git that failed, and its last words.
type exitError struct {
	command string // "fetch"
	err     error
	said    string // nothing secret in it; may be ""
}

func (e *exitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %s", e.command, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.said)
}

// Hint says what to do about some of git's last words; "": they are other ones.
func (e *exitError) Hint() string {
	for _, known := range []struct{ words, advice string }{
		{"Permission denied (publickey", "no SSH key of this user opens the repository: add one that does to ssh-agent or ~/.ssh, or have the source use https"},
		{"Host key verification failed", "ssh doesn't know the key of the host: connect once with ssh, and compare the key that it shows with what those who run the host publish. If it is the same, add it to ~/.ssh/known_hosts"},
		{"could not read Username", "the repository is private, or doesn't exist, and git has no login for the host: set up a credential helper of git, or use an SSH key"},
		{"terminal prompts disabled", "the repository is private, or doesn't exist, and git has no login for the host: set up a credential helper of git, or use an SSH key"},
		{"Authentication failed", "the server accepts none of the logins that git has for the host: check the credential helper of git, and whether a token has expired"},
		{"response 407", "the proxy that HTTPS_PROXY or git's http.proxy names wants a login, as in http://USER:PASSWORD@HOST:PORT"},
		{"Couldn't connect to server", "no server answers there: check the host and the port, HTTPS_PROXY, and the network of this machine"},
		{"Could not resolve host", "the name of the host can't be resolved: check how it is written, and the DNS, VPN and network of this machine"},
		{"Connection refused", "no server listens there, or a firewall refuses: check host and port of the source"},
		{"certificate", "git doesn't trust the certificate of the server: ask those who run it, or a proxy on the way, which authority is theirs. If it issued this certificate, add the authority's certificate to those of the system, or name a file with it by git's http.sslCAInfo"},
		{"dubious ownership", "the repository belongs to another user, whose hooks and settings git would run: find out who that is. If you trust them, name the repository in git's safe.directory"},
	} {
		if strings.Contains(e.said, known.words) {
			return known.advice
		}
	}
	return ""
}

func (e *exitError) Unwrap() error { return e.err }
