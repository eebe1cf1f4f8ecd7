package cause

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Refused says that a policy refuses a package, and why. It matches getproviders.ErrRefused and the reason, whose code it has if there is one.
func Refused(c getproviders.Candidate, reason error) *getproviders.Fault {
	return &getproviders.Fault{
		Code: cmp.Or(getproviders.CodeOf(reason), "refused_by_policy"), Kind: getproviders.ErrRefused,
		Subject: getproviders.Subject{Provider: c.Provider, Version: c.Version, Platform: c.Platform}, Err: fmt.Errorf("refused by policy: %w", reason),
	}
}

// Address takes apart what is wrong with the address of a provider: a headline, and sentences. ok is false for other errors.
func Address(err error) (summary, detail string, ok bool) {
	failed, ok := errors.AsType[*getproviders.Fault](err)
	if !ok || failed.Part == "" {
		return "", "", false
	}
	return "Invalid provider " + failed.Part, failed.Err.Error(), true
}

// NotCached finds all that an error says isn't on this machine.
func NotCached(err error) (missing []*getproviders.NotCachedError) {
	for _, part := range wrapped.All(err) {
		if one, ok := part.(*getproviders.NotCachedError); ok {
			missing = append(missing, one)
		}
	}
	return missing
}

// Unwritable says that the providers' packages can't be put into a directory. It is found out before anything is
// fetched, and is the one error for all of them. It matches getproviders.ErrUnwritable and the cause of err.
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
		failed.Hint = "what is there is no directory, or a link that leads nowhere: see what it is, then move it away, or make what it leads to"
	}
	return failed
}
