package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
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

// stepError says in which step of fetching a package something failed.
type stepError struct {
	step, pkg string // the address without logins and values of the query; "?ref=" stays
	err       error
}

// Error implements error.
func (e *stepError) Error() string {
	if brief := e.Brief(); strings.Contains(brief, e.pkg) {
		return brief
	}
	return fmt.Sprintf("%s %s: %v", e.step, e.pkg, e.reason())
}

// Brief is the error for a sentence that has named the package already.
func (e *stepError) Brief() string { return fmt.Sprintf("%s: %v", e.step, e.reason()) }

// reason is the cause, without the address of a repository that is in the package's.
func (e *stepError) reason() error {
	repository, ok := e.err.(*getproviders.Fault)
	if !ok || repository.Source == "" || !strings.Contains(e.pkg, repository.Source) {
		return e.err
	}
	return errors.Unwrap(repository.Err)
}

func (e *stepError) Unwrap() error { return e.err }

// failed says in which step there was an error. The package is known higher up.
func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{step: step, err: err}
}

// named makes a Fault of an error, which others may have got for another address, with the package. Where the cause
// has a hint, the Fault has none of its own.
func named(ctx context.Context, pkg string, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	at, ok := errors.AsType[*stepError](err)
	if !ok {
		return err
	}
	fault := faultOf(at.err)
	if at.step == stepRead && errors.Is(at.err, fs.ErrNotExist) {
		fault = faultOf(ErrNotFound)
	}
	if fault.Hint == "" && at.step == stepUnpack {
		fault.Hint = "what was downloaded is no such archive, or a damaged one: check the source, and whether a login page or a proxy answers in place of the server"
	}
	if len(getproviders.HintsOf(at.err)) > 0 {
		fault.Hint = ""
	}
	fault.Err = &stepError{at.step, modules.Redact(pkg), at.err}
	return fault
}

// faultOf is what an error's kind tells.
func faultOf(err error) *getproviders.Fault {
	code := getproviders.CodeOf(err)
	is := func(kinds ...error) bool {
		return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
	}
	var answered interface{ HTTPStatusCode() int }     // of s3 and gcs
	var connection interface{ ConnectionError() bool } // of s3
	switch {
	case is(ErrAddress, git.ErrAddress, bucket.ErrAddress):
		return &getproviders.Fault{Code: "invalid_module_source", Kind: ErrAddress}
	case is(ErrNotFound, git.ErrNotFound):
		return &getproviders.Fault{Code: "module_package_not_found", Kind: ErrNotFound, Hint: "check the address"}
	case is(ErrChecksum):
		return &getproviders.Fault{Code: "checksum_mismatch", Kind: ErrChecksum, Hint: "the archive was replaced, or the checksum in the source address is wrong: find out which before you change it"}
	case is(ErrOffline, git.ErrOffline):
		return &getproviders.Fault{Code: "offline", Kind: ErrOffline, Hint: "run once without -offline: what is fetched stays in the module store"}
	case is(getproviders.ErrUnauthorized):
		return &getproviders.Fault{Code: "unauthorized", Kind: getproviders.ErrUnauthorized, Hint: "check whether the credentials belong to a user who may read the package"}
	case errors.As(err, &answered) && answered.HTTPStatusCode() != 0:
		return faultOf(statusFault(answered.HTTPStatusCode(), nil).Kind)
	case !is(getproviders.ErrUnreachable, git.ErrUnreachable, hosts.ErrRequest) && !(errors.As(err, &connection) && connection.ConnectionError()):
		return &getproviders.Fault{Code: cmp.Or(code, "module_package_failed")}
	}
	failed := &getproviders.Fault{Code: "unreachable", Kind: getproviders.ErrUnreachable}
	if code == "" || code == "request_failed" {
		failed.Hint = "the connection broke, or couldn't be made: run again. If it happens again, check the network, and what proxies and firewalls are on the way"
	}
	return failed
}

// statusOf is about an answer that isn't the one that was hoped for.
func statusOf(resp *http.Response) error {
	return statusFault(resp.StatusCode, fmt.Errorf("GET %q: %d %s", hosts.RedactURL(resp.Request.URL), resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// statusFault is what a status means.
func statusFault(code int, err error) *getproviders.Fault {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return &getproviders.Fault{
			Kind: getproviders.ErrUnauthorized, Err: err,
			Hint: "the login for a host of archives is taken from .netrc: check that the host is in it, and that the login may read the package",
		}
	case http.StatusNotFound, http.StatusGone:
		return &getproviders.Fault{Kind: ErrNotFound, Err: err, Hint: "check the address. Some servers answer so if a login is missing, which is taken from .netrc"}
	}
	return &getproviders.Fault{Kind: getproviders.ErrUnreachable, Err: err}
}

// withoutURL takes the URL out of an error of package url, which may hold a login.
func withoutURL(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	return err
}
