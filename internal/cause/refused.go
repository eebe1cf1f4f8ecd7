package cause

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
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
	if getproviders.CodeOf(err) != "invalid_address" {
		return "", "", false
	}
	summary, detail, ok = strings.Cut(err.Error(), ": ")
	return "I" + strings.TrimPrefix(summary, "i"), detail, ok
}
