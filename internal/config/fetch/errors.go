package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// What callers branch on, with errors.Is. Two more are getproviders.ErrUnauthorized,
// that a server wants a login or another one, and getproviders.ErrUnreachable,
// that there was no answer, or none that makes sense.
var (
	// ErrAddress: the address isn't one that anything could be fetched from.
	ErrAddress = errors.New("this is no address of a package")
	// ErrNotFound: the server or the directory doesn't have the package, or the ref.
	ErrNotFound = errors.New("module package not found")
	// ErrChecksum: the archive isn't the one that the address wants.
	ErrChecksum = errors.New("the checksum is another")
	// ErrOffline: it isn't on this machine, and nothing may be asked for.
	ErrOffline = errors.New("it is not in the module store, and nothing may be asked for while offline")
)

// The steps in which things fail, in words that the package's address can follow.
const (
	stepPrepare  = "preparing to get"
	stepAddress  = "reading the address of"
	stepLocate   = "asking where to get"
	stepDownload = "downloading"
	stepCheck    = "checking"
	stepUnpack   = "unpacking"
	stepCheckout = "checking out"
	stepRead     = "reading"
	stepCopy     = "copying"
)

// Error says what failed for a package.
type Error struct {
	Package string // its address, without logins and values of the query; "?ref=" stays
	Step    string // "downloading"
	Status  int    // of the answer, if the server's status is the reason; else 0
	Kind    error  // one of the errors that callers branch on, or nil
	Err     error  // the cause
}

// Error implements error.
func (e *Error) Error() string {
	if brief := e.Brief(); strings.Contains(brief, e.Package) {
		return brief
	}
	return fmt.Sprintf("%s %s: %v", e.Step, e.Package, e.reason())
}

// Brief is the error for a sentence that has named the package already.
func (e *Error) Brief() string { return fmt.Sprintf("%s: %v", e.Step, e.reason()) }

// reason is the cause, without an address that is in the package's.
func (e *Error) reason() error {
	inner, ok := e.Err.(*git.Error)
	switch {
	case !ok || !strings.Contains(e.Package, inner.URL):
	case inner.Ref != "" && errors.Is(inner.Err, git.ErrNotFound):
		return fmt.Errorf("the repository has no ref %q", inner.Ref)
	default:
		return inner.Err
	}
	return e.Err
}

// Unwrap returns Kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// Code names Kind: "invalid_module_source", "module_package_not_found",
// "checksum_mismatch", "offline", "unauthorized" or "unreachable"; else it is that of the
// cause, or "module_package_failed".
func (e *Error) Code() string {
	for _, of := range kindCodes {
		if of.kind == e.Kind {
			return of.code
		}
	}
	return cmp.Or(getproviders.CodeOf(e.Err), "module_package_failed")
}

// kindCodes are the kinds of errors, with their names for programs.
var kindCodes = []struct {
	kind error
	code string
}{
	{ErrAddress, "invalid_module_source"}, {ErrNotFound, "module_package_not_found"}, {ErrChecksum, "checksum_mismatch"},
	{ErrOffline, "offline"}, {getproviders.ErrUnauthorized, "unauthorized"}, {getproviders.ErrUnreachable, "unreachable"},
}

// Hint says what to do.
func (e *Error) Hint() string {
	hints := getproviders.HintsOf(e.Err)
	switch e.Kind {
	case getproviders.ErrUnauthorized:
		if len(hints) > 0 {
			return hints[0]
		}
		if e.Status == 0 {
			return "check whether the credentials belong to a user who may read the package"
		}
		return "the login for a host of archives is taken from .netrc: check that the host is in it, and that the login may read the package"
	case ErrNotFound:
		if e.Status != 0 {
			return "check the address. Some servers answer so if a login is missing, which is taken from .netrc"
		}
		if repository, ok := errors.AsType[*git.Error](e.Err); ok && repository.Ref != "" {
			return fmt.Sprintf("a ref is a tag, a branch or a commit. This command lists tags and branches:\n  git ls-remote %s", repository.URL)
		}
		return "check the address"
	case getproviders.ErrUnreachable:
		if repository, ok := errors.AsType[*git.Error](e.Err); ok {
			advice := "check the address, and whether this user may read the repository"
			if known := getproviders.HintsOf(repository); len(known) > 0 { // of git's last words
				advice = known[0]
			}
			return fmt.Sprintf("%s. To try it, run:\n  git ls-remote %s", advice, repository.URL)
		}
		if code := getproviders.CodeOf(e.Err); len(hints) == 0 && (code == "" || code == "request_failed") {
			return "the connection broke, or couldn't be made: run again. If it happens again, check the network, and what proxies and firewalls are on the way"
		}
	case ErrChecksum:
		return "the archive was replaced, or the checksum in the source address is wrong: find out which before you change it"
	case ErrOffline:
		return "run once without -offline: what is fetched stays in the module store"
	}
	if e.Step == stepUnpack {
		return "what was downloaded is no such archive, or a damaged one: check the source, and whether a login page or a proxy answers in place of the server"
	}
	return ""
}

// failed says in which step there was an error. The package is known higher up.
func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Step: step, Kind: kindOf(err), Err: err}
	if step == stepRead && errors.Is(err, fs.ErrNotExist) {
		e.Kind = ErrNotFound
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		e.Status = status.code
	}
	return e
}

// named adds the package to an error, which others may have got for another
// address.
func named(ctx context.Context, pkg string, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	with := *e
	with.Package = modules.Redact(pkg)
	return &with
}

// kindOf tells which of the errors that callers branch on an error is.
func kindOf(err error) error {
	for _, of := range kindCodes {
		if errors.Is(err, of.kind) {
			return of.kind
		}
	}
	var answered interface{ HTTPStatusCode() int } // of s3 and gcs
	if errors.As(err, &answered) && answered.HTTPStatusCode() != 0 {
		return kindOf(&statusError{code: answered.HTTPStatusCode()})
	}
	var connection interface{ ConnectionError() bool } // of s3
	switch {
	case errors.Is(err, hosts.ErrRequest), errors.As(err, &connection) && connection.ConnectionError(), errors.Is(err, git.ErrUnreachable):
		return getproviders.ErrUnreachable
	case errors.Is(err, git.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, git.ErrAddress), errors.Is(err, bucket.ErrAddress):
		return ErrAddress
	case errors.Is(err, git.ErrOffline):
		return ErrOffline
	}
	return nil
}

// statusError is an answer that isn't the one that was hoped for.
type statusError struct {
	url    string // redacted
	status string
	code   int
}

func (e *statusError) Error() string { return fmt.Sprintf("GET %q: %s", e.url, e.status) }

// Is reports which of the errors that callers branch on it is.
func (e *statusError) Is(target error) bool {
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return target == getproviders.ErrUnauthorized
	case http.StatusNotFound, http.StatusGone:
		return target == ErrNotFound
	default:
		return target == getproviders.ErrUnreachable
	}
}

func statusOf(resp *http.Response) *statusError {
	return &statusError{
		url:    hosts.RedactURL(resp.Request.URL),
		status: fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)),
		code:   resp.StatusCode,
	}
}

// withoutURL takes the URL out of an error of package url, which may hold a login.
func withoutURL(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	return err
}
