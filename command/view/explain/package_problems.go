package explain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache"
)

// packageName returns the package of a failure.
func packageName(f *getproviders.Fault) string {
	name := providerName(f)
	if !f.Version.IsZero() {
		name += " v" + f.Version.String()
	}
	if f.Platform != (getproviders.Platform{}) {
		name += " for " + f.Platform.String()
	}
	return name
}

// providerName returns the provider of a failure.
func providerName(f *getproviders.Fault) string { return f.Provider.String() }

// told returns the error of a cause, after the name of its package, or after a sentence and the names of several packages.
func (n Names) told(c cause.Cause, sentence string, name func(*getproviders.Fault) string) string {
	switch len(c.Failures) {
	case 0:
		return n.WithHint(c.Err)
	case 1:
		return name(c.Failures[0]) + ": " + n.WithHint(c.Failures[0].Err)
	}
	return sentence + problem.Items(texts(c.Failures, packageName)) + "\n\n" + n.Explained(c.Err)
}

// isInterrupt reports whether a cause is an interrupt by the user, which ends the work on all providers.
func isInterrupt(c cause.Cause) bool {
	if len(c.Failures) == 1 {
		return c.Failures[0].Step == during.Cancel
	}
	return errors.Is(c.Err, context.Canceled)
}

// problemsOf returns the problem that say makes of each cause, unless that is nil, with the code of the cause if that has one. After an
// interrupt it only returns that one.
func problemsOf(err error, what string, say func(cause.Cause) *problem.Problem) (problems problem.List) {
	causes := cause.Causes(err)
	if slices.ContainsFunc(causes, isInterrupt) {
		return problem.List{canceled(what)}
	}
	for _, c := range causes {
		if p := say(c); p != nil {
			problems = append(problems, problem.Because(c.Err, p))
		}
	}
	return problems
}

// Wanted explains the errors of providers that metadata shows: who requires a provider, and what may have been meant by its address.
// The zero value explains nothing.
type Wanted struct {
	Required getproviders.Requirements
	Suggest  Suggest
}

// because says who requires the provider of a failure, and what may have been meant by its address; "" if the failure is about
// something else, such as an archive.
func (n Names) because(f *getproviders.Fault, w Wanted) string {
	about := failure{Fault: f, Names: n, req: w.Required, suggest: w.Suggest}
	switch {
	case w.Required == nil:
		return ""
	case !knewVersion(f):
		return about.otherAddress()
	case f.Step == during.Metadata:
		return about.requiredBy()
	}
	return ""
}

// LockedDir is the result of locking one directory.
type LockedDir struct {
	Dir    string
	Named  bool // there may be others, so that texts name the directory
	Check  bool // nothing was written
	Result providercache.LockResult
	Wanted Wanted // explains the error
	// Locked returns the hashes that the lock file has for a version; nil if they aren't needed.
	Locked func(getproviders.Provider, getproviders.Version) []getproviders.Hash
}

// LockProblems explains why hashes for a directory's lock file are
// missing: one problem for each cause that several packages share, one for the other failures of
// each platform, and one for errors about no platform.
func (n Names) LockProblems(d LockedDir) problem.List {
	const summary = "Could not retrieve providers for locking"
	var apart problem.List
	failed := map[getproviders.Platform]*problem.Problem{}
	problems := problemsOf(d.Result.Err, "Provider installation", func(c cause.Cause) *problem.Problem {
		var platform getproviders.Platform
		switch len(c.Failures) {
		case 0:
		case 1:
			failed := c.Failures[0]
			because := n.because(failed, d.Wanted)
			platform = failed.Platform
			if because != "" { // a problem of its own, because the paragraphs about two providers would be mixed up
				return problem.Error("failed", summary, n.lockFailure(d, platform)+"\n- "+n.told(c, "", providerName)+because)
			}
		default:
			return problem.Error("failed", summary, n.told(c, n.lockFailure(d, platform), nil))
		}
		if failed[platform] == nil {
			failed[platform] = problem.Because(c.Err, problem.Error("failed", summary, n.lockFailure(d, platform)))
			apart = append(apart, failed[platform])
		}
		failed[platform].Detail += "\n- " + n.told(c, "", providerName)
		return nil
	})
	return append(problems, apart...)
}

// lockFailure returns the sentence before a list of failures.
func (n Names) lockFailure(d LockedDir, platform getproviders.Platform) string {
	text := n.Name + " failed to fetch the requested providers"
	if platform != (getproviders.Platform{}) {
		text += " for " + platform.String()
	}
	text += " in order to calculate their checksums"
	if d.Named {
		text += " for " + d.Dir
	}
	return text + ": some providers could not be installed:"
}

// MirrorProblems explains the errors of a mirror: one problem for each cause that
// several packages share, each other package and each index. Errors of writing get the given code and summary.
func (n Names) MirrorProblems(err error, code, summary string, w Wanted) problem.List {
	return problemsOf(err, "Provider installation", func(c cause.Cause) *problem.Problem {
		switch {
		case len(c.Failures) > 0:
			return n.mirrorProblem(c, w)
		case getproviders.CodeOf(c.Err) == "mirror_index":
			return problem.Errorf("mirror_index", "Failed to update indexes", "The indexes can't list all that is in the mirror: %s", n.WithHint(c.Err))
		}
		return problem.Error(code, summary, n.unwritten(c.Err))
	})
}

// LockedMismatch says in Terraform's words that a lock file doesn't fit the configuration.
func (n Names) LockedMismatch(dir, reason string) *problem.Problem {
	return problem.Errorf("locked_version", "Inconsistent dependency lock file",
		"The lock file in %s doesn't fit the configuration: %s.\n\n"+
			"To update the locked dependency selections to match a changed configuration, run:\n  %s init -upgrade", dir, reason, n.Program)
}

// unwritten returns the text of a file's error, with its hints, or with advice if this user may not write.
func (n Names) unwritten(err error) string {
	if len(getproviders.HintsOf(err)) == 0 && errors.Is(err, fs.ErrPermission) {
		return problem.Unwritten(err)
	}
	return n.WithHint(err)
}

// mirrorProblem explains a failed package under Terraform's headlines.
func (n Names) mirrorProblem(c cause.Cause, w Wanted) *problem.Problem {
	first := c.Failures[0]
	summary, verb, name := "Cannot download provider release", "download", packageName
	switch {
	case first.Platform == (getproviders.Platform{}):
		summary, name = "Provider not available", providerName
	case first.Step == during.Metadata:
		summary = "Provider release not available"
	case first.Step == during.Authenticate, errors.Is(first, getproviders.ErrAuthentication):
		summary, verb = "Invalid provider package", "authenticate"
	}

	text := n.told(c, "Failed to download these providers:", func(f *getproviders.Fault) string {
		return "Failed to " + verb + " " + name(f)
	})
	if len(c.Failures) == 1 {
		text += n.because(first, w)
	}

	return problem.Error("failed", summary, text)
}

// LocateProblems explains why locations of packages are unknown: one problem for each cause that several
// packages share, and each other package.
func (n Names) LocateProblems(err error) problem.List {
	return problemsOf(err, "The search", func(c cause.Cause) *problem.Problem {
		summary := "Provider package not found"
		if !errors.Is(c.Err, getproviders.ErrNotFound) {
			summary, _ = n.queryFailed(c.Err)
		}
		return problem.Error("failed", summary, n.told(c, "The source of these providers doesn't say where their packages are:", packageName))
	})
}

// MovedAside returns the warning about files that were in a package's place, and are at another path now.
func MovedAside(short, place, aside string) *problem.Problem {
	return problem.Warning("Files were moved aside", fmt.Sprintf(
		"Where the package of %s belongs, there was something that isn't part of it. It is kept in %s now, "+
			"and the package is in %s. Remove what you don't need.",
		short, aside, place))
}

// RegistryWarning returns the warning with the texts of a provider's sources.
func RegistryWarning(short string, texts []string) *problem.Problem {
	text := "The sources of " + short + " returned warnings:"
	for _, warning := range texts {
		text += "\n- " + warning
	}
	return problem.Warning("Additional provider information from registry", text)
}
