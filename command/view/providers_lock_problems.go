package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// LockProblems explains why the hashes for a directory's lock file couldn't be
// had: one problem for each platform, and one for what is about no platform.
func LockProblems(product getproviders.Product, d LockedDir) (problems problem.List) {
	var platforms []string
	failed := map[string][]error{}
	for _, err := range parts(d.Result.Err) {
		if failure, ok := errors.AsType[*providercache.ProviderError](err); ok && failure.Step == providercache.StepCancel {
			return problem.List{problem.Error("Provider installation was canceled by an interrupt signal.", "")}
		}
		name := ""
		if about, ok := errors.AsType[*providercache.PlatformError](err); ok {
			name = about.Platform.String()
		}
		if !slices.Contains(platforms, name) {
			platforms = append(platforms, name)
		}
		failed[name] = append(failed[name], err)
	}
	for _, name := range platforms {
		problems = append(problems, problem.Error("Could not retrieve providers for locking", lockFailures(product, d, name, failed[name])))
	}
	return problems
}

func lockFailures(product getproviders.Product, d LockedDir, platform string, errs []error) string {
	var b strings.Builder
	b.WriteString(product.Name + " failed to fetch the requested providers")
	if platform != "" {
		b.WriteString(" for " + platform)
	}
	b.WriteString(" in order to calculate their checksums")
	if d.Named {
		b.WriteString(" for " + d.Dir)
	}
	b.WriteString(": some providers could not be installed:")
	for _, err := range errs {
		fmt.Fprintf(&b, "\n- %s", lockFailure(err))
	}
	return b.String()
}

// lockFailure is a failure in the form that the real tool has, with the address
// in front.
func lockFailure(err error) string {
	failure, ok := errors.AsType[*providercache.ProviderError](err)
	if !ok {
		return withHint(err)
	}
	cause := failure.Err
	if about, ok := errors.AsType[*providercache.PlatformError](cause); ok {
		cause = about.Err
	}
	return failure.Provider.String() + ": " + withHint(cause)
}
