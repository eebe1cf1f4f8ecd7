// Package cause finds the common cause of several failures: a host that doesn't respond, constraints that contradict each other.
package cause

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Cause is one reason why providers failed.
type Cause struct {
	// Err is the common cause of Failures, such as an unreachable host. With one failure or none it
	// is the part of the joined error itself.
	Err      error
	Failures []*getproviders.Fault // in the order of the joined error; empty if Err isn't about a provider
}

// Causes splits a joined error, and groups the failures that have one cause: a host that doesn't
// respond or that wants other credentials is one cause, for however many providers. Each other
// failure is a cause of its own.
func Causes(err error) (causes []Cause) {
	index, shared := map[string]int{}, map[string]error{}
	for _, part := range getproviders.SplitErrors(err) {
		failure, ok := getproviders.Failure(part)
		if !ok {
			causes = append(causes, Cause{Err: part})
			continue
		}
		key, common := SharedCause(failure.Err)
		at, seen := index[key]
		switch {
		case key == "":
		case seen:
			causes[at].Err = shared[key]
			causes[at].Failures = append(causes[at].Failures, failure)
			continue
		default:
			index[key], shared[key] = len(causes), common
		}
		causes = append(causes, Cause{Err: failure, Failures: []*getproviders.Fault{failure}})
	}
	return causes
}

// SharedCause returns the part of a failure that other providers may have failed for, too. key
// identifies the cause; "" means that the failure has no such part.
func SharedCause(err error) (key string, common error) {
	if len(wrapped.As[*getproviders.NotCachedError](err)) > 0 {
		return "", nil
	}
	if several, ok := errors.AsType[*getproviders.SourcesError](err); ok {
		return sharedAnswer(several)
	}
	for _, part := range wrapped.As[*hosts.Fault](err) {
		if part.Common != "" {
			return part.Common, part
		}
	}
	status, answered := errors.AsType[*hosts.StatusError](err)
	refused := getproviders.FaultOf(err, getproviders.ErrUnauthorized)
	if why, ok := errors.AsType[*hosts.Refusal](err); ok && refused != nil && answered {
		common := *refused
		common.Err = fmt.Errorf("host %s %s: %w", why.Host, why.Says(status.StatusCode), why)
		return fmt.Sprintf("credentials %s %t", why.Host, why.Sent), &common
	}
	if missing := getproviders.FaultOf(err, getproviders.ErrProviderNotFound); missing != nil && missing.Hint != "" {
		common := *missing
		common.Err = fmt.Errorf("%s has none of them", missing.Source)
		return "not a source " + missing.Source, &common
	}
	if answered && hosts.StatusAdvice(status.StatusCode) != "" {
		return fmt.Sprintf("status %d %s://%s", status.StatusCode, status.URL.Scheme, status.URL.Host), status
	}
	for _, page := range wrapped.As[*getproviders.Fault](err) {
		if at, err := url.Parse(page.URL); err == nil && at.Host != "" {
			return "page " + at.Scheme + "://" + at.Host, page
		}
	}
	if other, ok := errors.AsType[*url.Error](err); ok { // of oras' client
		if at, err := url.Parse(other.URL); err == nil && at.Host != "" {
			return "request " + at.Scheme + "://" + at.Host, &url.Error{Op: other.Op, URL: hosts.RedactURL(at), Err: other.Err} // its query may be a secret
		}
	}
	return "", nil
}

// sharedAnswer returns the cause that all failed sources have in common.
func sharedAnswer(several *getproviders.SourcesError) (key string, common error) {
	for _, answer := range several.Unwrap() {
		one, cause := SharedCause(answer)
		if one == "" || key != "" && one != key {
			return "", nil
		}
		key, common = one, cause
	}
	return key, common
}

// Refused returns the error for a package that a policy refuses. It matches getproviders.ErrRefused and the reason, and has the reason's code
// if that has one.
func Refused(c getproviders.Candidate, reason error) *getproviders.Fault {
	return &getproviders.Fault{
		Code: cmp.Or(getproviders.CodeOf(reason), "refused_by_policy"), Kind: getproviders.ErrRefused,
		Subject: getproviders.Subject{Provider: c.Provider, Version: c.Version, Platform: c.Platform}, Err: fmt.Errorf("refused by policy: %w", reason),
	}
}

// Address splits an error about the address of a provider into a headline and sentences. ok is false for other errors.
func Address(err error) (summary, detail string, ok bool) {
	failed, ok := errors.AsType[*getproviders.Fault](err)
	if !ok || failed.Part == "" {
		return "", "", false
	}
	return "Invalid provider " + failed.Part, failed.Err.Error(), true
}

// Unwritable returns the one error for all providers whose packages can't be written to a directory, which is
// checked before any download. It matches getproviders.ErrUnwritable and the cause of err.
func Unwritable(dir string, providers []getproviders.Provider, err error) *getproviders.Fault {
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == dir {
		err = at.Err
	}
	failed := &getproviders.Fault{Code: "unwritable", Kind: getproviders.ErrUnwritable, Subject: getproviders.Subject{Providers: providers}, Err: fmt.Errorf("no package can be put into %s: %w", dir, err)}
	switch {
	case errors.Is(err, fs.ErrPermission):
		failed.Hint = "this user may not write there. An earlier run as another user, such as root in a container, may have made the directory: " +
			"correct its owner or its permissions, or run as the user who owns it"
	case errors.Is(err, fs.ErrExist):
		failed.Hint = "that path isn't a directory, or is a link that leads nowhere: see what it is, then move it away, or make what it leads to"
	}
	return failed
}
