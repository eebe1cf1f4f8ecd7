package explain

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache"
)

// packageName is the package that a failure is about.
func packageName(f *getproviders.Fault) string {
	name := f.Provider.String()
	if !f.Version.IsZero() {
		name += " v" + f.Version.String()
	}
	if f.Platform != (getproviders.Platform{}) {
		name += " for " + f.Platform.String()
	}
	return name
}

// told says what packages failed for: of several, a sentence and their names come before it, else the name.
func told(c cause.Cause, sentence string, name func(*getproviders.Fault) string) string {
	switch len(c.Failures) {
	case 0:
		return WithHint(c.Err)
	case 1:
		return name(c.Failures[0]) + ": " + WithHint(c.Failures[0].Err)
	}
	return sentence + problem.Items(texts(c.Failures, packageName)) + "\n\n" + Explained(c.Err)
}

// isInterrupt reports whether a cause is that the user has interrupted the program, which ends the work on all providers.
func isInterrupt(c cause.Cause) bool {
	if len(c.Failures) == 1 {
		return c.Failures[0].Step == during.Cancel
	}
	return errors.Is(c.Err, context.Canceled)
}

// problemsOf has a problem for each cause; nil: there is nothing to say of it yet. If something was interrupted, there is no other.
func problemsOf(err error, what string, say func(cause.Cause) *problem.Problem) (problems problem.List) {
	causes := cause.Causes(err)
	if slices.ContainsFunc(causes, isInterrupt) {
		return problem.List{canceled(what)}
	}
	for _, c := range causes {
		if p := say(c); p != nil {
			problems = append(problems, p)
		}
	}
	return problems
}

// LockedDir is what became of one directory.
type LockedDir struct {
	Dir    string
	Named  bool // there may be others: it has to be said which one it is about
	Check  bool // nothing was written
	Result providercache.LockResult
	// Locked are the hashes that the lock file has for a version; nil: nobody asks for them.
	Locked func(getproviders.Provider, getproviders.Version) []getproviders.Hash
}

// LockProblems explains why the hashes for a directory's lock file couldn't be
// had: one problem for each cause that several packages failed for, for what else is about
// a platform, and for what is about none.
func LockProblems(product getproviders.Product, d LockedDir) problem.List {
	const summary = "Could not retrieve providers for locking"
	var platforms []getproviders.Platform
	failed := map[getproviders.Platform]string{}
	problems := problemsOf(d.Result.Err, "Provider installation", func(c cause.Cause) *problem.Problem {
		var platform getproviders.Platform
		switch len(c.Failures) {
		case 0:
		case 1:
			platform = c.Failures[0].Platform
		default:
			return problem.Error("failed", summary, told(c, lockFailure(product, d, platform), nil))
		}
		if failed[platform] == "" {
			platforms = append(platforms, platform)
		}
		failed[platform] += "\n- " + told(c, "", func(f *getproviders.Fault) string { return f.Provider.String() })
		return nil
	})
	for _, platform := range platforms {
		problems = append(problems, problem.Error("failed", summary, lockFailure(product, d, platform)+failed[platform]))
	}
	return problems
}

// lockFailure is what a list of failures begins with.
func lockFailure(product getproviders.Product, d LockedDir, platform getproviders.Platform) string {
	text := product.Name + " failed to fetch the requested providers"
	if platform != (getproviders.Platform{}) {
		text += " for " + platform.String()
	}
	text += " in order to calculate their checksums"
	if d.Named {
		text += " for " + d.Dir
	}
	return text + ": some providers could not be installed:"
}

// MirrorProblems explains what went wrong with a mirror: one problem for each cause that
// several packages failed for, each other package and each index. For what can't be written it has the code and the summary given.
func MirrorProblems(err error, code, summary string) problem.List {
	return problemsOf(err, "Provider installation", func(c cause.Cause) *problem.Problem {
		switch {
		case len(c.Failures) > 0:
			return mirrorProblem(c)
		case getproviders.CodeOf(c.Err) == "mirror_index":
			return problem.Errorf("mirror_index", "Failed to update indexes", "The indexes can't list all that is in the mirror: %s", WithHint(c.Err))
		}
		return problem.Error(code, summary, unwritten(c.Err))
	})
}

// LockedMismatch says that lock files don't fit what configurations require, in
// Terraform's words.
func LockedMismatch(product getproviders.Product, dir, reason string) *problem.Problem {
	return problem.Errorf("locked_version", "Inconsistent dependency lock file",
		"The lock file in %s doesn't fit the configuration: %s.\n\n"+
			"To update the locked dependency selections to match a changed configuration, run:\n  %s init -upgrade", dir, reason, product.Program)
}

// unwritten is an error of a file or a directory, with its advice or with what to do if this user may not write.
func unwritten(err error) string {
	if len(getproviders.HintsOf(err)) == 0 && errors.Is(err, fs.ErrPermission) {
		return problem.Unwritten(err)
	}
	return WithHint(err)
}

// mirrorProblem has Terraform's headlines.
func mirrorProblem(c cause.Cause) *problem.Problem {
	first := c.Failures[0]
	code, summary, verb, name := "", "Cannot download provider release", "download", packageName
	switch {
	case first.Platform == (getproviders.Platform{}):
		code, summary, name = "package_not_found", "Provider not available", func(f *getproviders.Fault) string { return f.Provider.String() }
	case first.Step == during.Metadata:
		summary = "Provider release not available"
	case first.Step == during.Authenticate, errors.Is(first, getproviders.ErrAuthentication):
		summary, verb = "Invalid provider package", "authenticate"
	}
	return problem.Error(code, summary, told(c, "Failed to download these providers:", func(f *getproviders.Fault) string {
		return "Failed to " + verb + " " + name(f)
	}))
}

// TransferProblems explains what went wrong: one problem for each cause that several packages failed for, and each other package.
func TransferProblems(product getproviders.Product, push bool, err error) problem.List {
	if !push {
		return InstallProblems(product, getproviders.Requirements{}, err, nil)
	}
	return problemsOf(err, "Provider installation", func(c cause.Cause) *problem.Problem {
		text := told(c, "These packages were not sent:", func(f *getproviders.Fault) string { return shortName(product, f) })
		if len(c.Failures) > 0 {
			c.Err = c.Failures[0]
		}
		return problem.Because(c.Err, problem.Error("bucket", "Failed to push packages", text))
	})
}

// LocateProblems explains what isn't known: one problem for each cause that several
// packages failed for, and each other package.
func LocateProblems(err error) problem.List {
	return problemsOf(err, "The search", func(c cause.Cause) *problem.Problem {
		return problem.Error("package_not_found", "Provider package not found",
			told(c, "The source of these providers doesn't say where their packages are:", packageName))
	})
}

// RegistryWarning is what sources want the users of a provider to know:
// registries of the provider, policies of a source that failed.
func RegistryWarning(short string, texts []string) *problem.Problem {
	text := "The sources of " + short + " returned warnings:"
	for _, warning := range texts {
		text += "\n- " + warning
	}
	return problem.Warning("Additional provider information from registry", text)
}
