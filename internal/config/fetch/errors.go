package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Errors that callers branch on, with errors.Is. Two more are getproviders.ErrUnauthorized, if a
// server wants another or any login, and getproviders.ErrUnreachable, after no answer or a
// malformed one.
var (
	// ErrAddress: nothing can be fetched from the address.
	ErrAddress = errors.New("this is not the address of a package")
	// ErrNotFound: the server or the directory doesn't have the package, or the ref.
	ErrNotFound = errors.New("module package not found")
	// ErrChecksum: the archive doesn't have the address's checksum.
	ErrChecksum = errors.New("the checksum differs")
	// ErrOffline: the package isn't on this machine, and requests aren't allowed.
	ErrOffline = errors.New("it is not in the module store, and no requests are sent while offline")
)

// The steps of a fetch, for messages in which the package's address follows.
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

// failed adds the step to an error. A caller adds the package.
func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return &modules.StepError{Step: step, Err: err}
}

// named converts an error, which another request for the same content may have got, to a Fault with the package's
// address. If the cause has a hint, the Fault has none.
func named(ctx context.Context, pkg string, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	at, ok := errors.AsType[*modules.StepError](err)
	if !ok {
		return err
	}
	fault := faultOf(at.Err)
	if at.Step == stepRead && errors.Is(at.Err, fs.ErrNotExist) {
		fault = faultOf(ErrNotFound)
	}
	if fault.Hint == "" && at.Step == stepUnpack {
		fault.Hint = "the download isn't such an archive, or it is damaged: check the source, and whether a login page or a proxy answers in place of the server"
	}
	if len(getproviders.HintsOf(at.Err)) > 0 {
		fault.Hint = ""
	}
	fault.Err = &modules.StepError{Step: at.Step, Package: modules.Redact(pkg), Err: at.Err}
	return fault
}

// faultOf returns a Fault without Err for an error's kind.
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
		failed.Hint = "the connection broke, or couldn't be made: run again. If it happens again, check the network, and proxies and firewalls on the way"
	}
	return failed
}

// statusOf returns the error of an answer with an unexpected status.
func statusOf(resp *http.Response) error {
	return statusFault(resp.StatusCode, fmt.Errorf("GET %q: %d %s", hosts.RedactURL(resp.Request.URL), resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// statusFault returns the error for a status.
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
