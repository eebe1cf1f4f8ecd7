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

// part is one of the failures that an error joins.
type part struct {
	err    error
	failed *getproviders.Fault // nil: it is about no provider
	plat   string              // "": it is about no platform
	cause  error               // err without provider and platform
}

// takeApart takes joined errors apart. That the user has interrupted the program,
// which ends the work on all providers, isn't among them.
func takeApart(err error) (all []part, interrupted bool) {
	for _, e := range getproviders.SplitErrors(err) {
		p := part{err: e, cause: CauseOf(e)}
		p.failed, _ = getproviders.Failure(e)
		if p.failed != nil && p.failed.Platform != (getproviders.Platform{}) {
			p.plat = p.failed.Platform.String()
		}
		switch {
		case p.failed != nil && p.failed.Step == during.Cancel, p.failed == nil && errors.Is(e, context.Canceled):
			interrupted = true
		default:
			all = append(all, p)
		}
	}
	return all, interrupted
}

// CauseOf is an error without the package that it is about.
func CauseOf(err error) error {
	if failed, ok := getproviders.Failure(err); ok {
		return failed.Err
	}
	return err
}

// name is the package that a failure is about.
func (p part) name() string {
	name := p.failed.Provider.String()
	if p.failed.Version != (getproviders.Version{}) {
		name += " v" + p.failed.Version.String()
	}
	if p.plat != "" {
		name += " for " + p.plat
	}
	return name
}

// several are packages that failed for one cause.
type several struct {
	packages []part
	cause    error
}

// byCause takes joined errors apart by causes, in order: what several packages failed
// for, or one part, with cause nil.
func byCause(err error) (all []several, interrupted bool) {
	for _, cause := range cause.Causes(err) {
		one, stopped := takeApart(cause.Err)
		interrupted = interrupted || stopped
		if len(cause.Failures) < 2 {
			for _, p := range one {
				all = append(all, several{packages: []part{p}})
			}
			continue
		}
		together := several{cause: cause.Err}
		for _, failed := range cause.Failures {
			p, _ := takeApart(failed)
			together.packages = append(together.packages, p...)
		}
		all = append(all, together)
	}
	return all, interrupted
}

// text lists the packages, and says what they failed for.
func (s several) text() string {
	return problem.Items(texts(s.packages, part.name)) + "\n\n" + Explained(s.cause)
}

// told returns the text of a problem: for several packages the sentence and what they failed with, else the name and its own error.
func (s several) told(sentence string, name func(part) string) string {
	p := s.packages[0]
	switch {
	case s.cause != nil:
		return sentence + s.text()
	case p.failed != nil:
		return name(p) + ": " + WithHint(p.cause)
	}
	return WithHint(p.cause)
}

// problemsOf has a problem for each cause; nil: there is nothing to say of it yet. If something was interrupted, there is no other.
func problemsOf(err error, interrupted *problem.Problem, say func(several) *problem.Problem) (problems problem.List) {
	all, isInterrupted := byCause(err)
	if isInterrupted {
		return problem.List{interrupted}
	}
	for _, s := range all {
		if p := say(s); p != nil {
			problems = append(problems, p)
		}
	}
	return problems
}

// LockedDir is what became of one directory.
type LockedDir struct {
	Dir      string
	LockFile string // its name in Dir
	Named    bool   // there may be others: it has to be said which one it is about
	Check    bool   // nothing was written
	Result   providercache.LockResult
}

// LockProblems explains why the hashes for a directory's lock file couldn't be
// had: one problem for each cause that several packages failed for, for what else is about
// a platform, and for what is about none.
func LockProblems(product getproviders.Product, d LockedDir) problem.List {
	const summary = "Could not retrieve providers for locking"
	var platforms []string
	failed := map[string]string{}
	problems := problemsOf(d.Result.Err, canceled("Provider installation"), func(s several) *problem.Problem {
		if s.cause != nil {
			return problem.Error(summary, lockFailure(product, d, "")+s.text())
		}
		p := s.packages[0]
		if !slices.Contains(platforms, p.plat) {
			platforms = append(platforms, p.plat)
		}
		failed[p.plat] += "\n- " + s.told("", func(p part) string { return p.failed.Provider.String() })
		return nil
	})
	for _, name := range platforms {
		problems = append(problems, problem.Error(summary, lockFailure(product, d, name)+failed[name]))
	}
	return problems
}

// lockFailure is what a list of failures begins with.
func lockFailure(product getproviders.Product, d LockedDir, platform string) string {
	text := product.Name + " failed to fetch the requested providers"
	if platform != "" {
		text += " for " + platform
	}
	text += " in order to calculate their checksums"
	if d.Named {
		text += " for " + d.Dir
	}
	return text + ": some providers could not be installed:"
}

// MirrorProblems explains what went wrong with a mirror: one problem for each cause that
// several packages failed for, each other package and each index.
func MirrorProblems(err error) problem.List {
	return problemsOf(err, canceled("Provider installation"), func(s several) *problem.Problem {
		p := s.packages[0]
		switch {
		case s.cause != nil:
			said := mirrorProblem(p)
			said.Detail = "Failed to download these providers:" + s.text()
			return said
		case p.failed != nil:
			return mirrorProblem(p)
		case getproviders.CodeOf(p.err) == "mirror_index":
			return problem.Errorf("mirror_index", "Failed to update indexes", "The indexes can't list all that is in the mirror: %s", WithHint(p.err))
		}
		return problem.CodedError("mirror_index", "Failed to write the mirror", unwritten(p.err))
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
func mirrorProblem(p part) *problem.Problem {
	if p.plat == "" {
		return problem.Errorf("package_not_found", "Provider not available", "Failed to download %s: %s", p.failed.Provider, WithHint(p.cause))
	}
	summary, verb := "Cannot download provider release", "download"
	switch {
	case p.failed.Step == during.Metadata:
		summary = "Provider release not available"
	case p.failed.Step == during.Authenticate, errors.Is(p.err, getproviders.ErrAuthentication):
		summary, verb = "Invalid provider package", "authenticate"
	}
	return problem.Error(summary, fmt.Sprintf("Failed to %s %s: %s", verb, p.name(), WithHint(p.cause)))
}

// TransferProblems explains what went wrong: one problem for each cause that several packages failed for, and each other package.
func TransferProblems(product getproviders.Product, push bool, err error) problem.List {
	if !push {
		return InstallProblems(product, getproviders.Requirements{}, err, nil)
	}
	name := func(p part) string { return fmt.Sprintf("%s v%s", product.Short(p.failed.Provider), p.failed.Version) }
	return problemsOf(err, canceled("Provider installation"), func(s several) *problem.Problem {
		text := s.told("These packages were not sent:", name)
		return problem.Because(s.packages[0].err, problem.CodedError("bucket", "Failed to push packages", text))
	})
}

// LocateProblems explains what isn't known: one problem for each cause that several
// packages failed for, and each other package.
func LocateProblems(err error) problem.List {
	return problemsOf(err, canceled("The search"), func(s several) *problem.Problem {
		return problem.CodedError("package_not_found", "Provider package not found",
			s.told("The source of these providers doesn't say where their packages are:", part.name))
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
