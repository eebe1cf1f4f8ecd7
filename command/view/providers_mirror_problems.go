package view

import (
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// MirrorProblems explains what went wrong with a mirror: one problem for each
// package and each index.
func MirrorProblems(err error) (problems problem.List) {
	for _, e := range parts(err) {
		failed, ok := errors.AsType[*providercache.ProviderError](e)
		index, isIndex := errors.AsType[*providercache.MirrorError](e)
		switch {
		case e == nil:
		case ok && failed.Step == providercache.StepCancel:
			return problem.List{problem.Error("Provider installation was canceled by an interrupt signal.", "")}
		case ok:
			problems = append(problems, mirrorProblem(failed))
		case isIndex:
			problems = append(problems, problem.Error("Failed to update indexes",
				fmt.Sprintf("The indexes can't tell of all that is in the mirror: %s: %s", index.Path, withHint(index.Err))))
		default:
			problems = append(problems, problem.Error("Failed to write the mirror", withHint(e)))
		}
	}
	return problems
}

// mirrorProblem has the real tool's headlines.
func mirrorProblem(failed *providercache.ProviderError) *problem.Problem {
	about, ok := errors.AsType[*providercache.PlatformError](failed.Err)
	if !ok {
		return problem.Error("Provider not available",
			fmt.Sprintf("Failed to download %s: %s", failed.Provider, withHint(failed.Err)))
	}
	summary, verb := "Cannot download provider release", "download"
	switch {
	case failed.Step == providercache.StepMetadata:
		summary = "Provider release not available"
	case failed.Step == providercache.StepAuthenticate, errors.Is(failed, getproviders.ErrAuthentication):
		summary, verb = "Invalid provider package", "authenticate"
	}
	return problem.Error(summary, fmt.Sprintf("Failed to %s %s v%s for %s: %s",
		verb, failed.Provider, failed.Version, about.Platform, withHint(about.Err)))
}

// LockedMismatch says that lock files don't fit what configurations require, in
// the real tool's words.
func LockedMismatch(product getproviders.Product, dir, reason string) *problem.Problem {
	return problem.Error("Inconsistent dependency lock file", fmt.Sprintf(
		"The lock file in %s doesn't fit the configuration: %s.\n\n"+
			"To update the locked dependency selections to match a changed configuration, run:\n  %s init -upgrade", dir, reason, product.Program))
}
