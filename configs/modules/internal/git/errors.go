package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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

// failure says what the request had been. An end of the context is that and
// nothing else.
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
	return fmt.Sprintf("git %s: %s: %s", e.command, e.err, e.said)
}

func (e *exitError) Unwrap() error { return e.err }
