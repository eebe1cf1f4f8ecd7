package explain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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
func LockProblems(product getproviders.Product, d LockedDir) (problems problem.List) {
	all, interrupted := byCause(d.Result.Err)
	if interrupted {
		return problem.List{canceled()}
	}
	const summary = "Could not retrieve providers for locking"
	var platforms []string
	failed := map[string][]part{}
	for _, s := range all {
		if s.cause != nil {
			problems = append(problems, problem.Error(summary, lockFailure(product, d, "")+s.text()))
			continue
		}
		p := s.packages[0]
		if !slices.Contains(platforms, p.plat) {
			platforms = append(platforms, p.plat)
		}
		failed[p.plat] = append(failed[p.plat], p)
	}
	for _, name := range platforms {
		problems = append(problems, problem.Error(summary, lockFailures(product, d, name, failed[name])))
	}
	return problems
}

// lockFailure is what a list of failures begins with.
func lockFailure(product getproviders.Product, d LockedDir, platform string) string {
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
	return b.String()
}

func lockFailures(product getproviders.Product, d LockedDir, platform string, failed []part) string {
	var b strings.Builder
	b.WriteString(lockFailure(product, d, platform))
	for _, p := range failed {
		b.WriteString("\n- ")
		if p.failed != nil {
			b.WriteString(p.failed.Provider.String() + ": ")
		}
		b.WriteString(WithHint(p.cause))
	}
	return b.String()
}

// MirrorProblems explains what went wrong with a mirror: one problem for each cause that
// several packages failed for, each other package and each index.
func MirrorProblems(err error) (problems problem.List) {
	all, interrupted := byCause(err)
	if interrupted {
		return problem.List{canceled()}
	}
	for _, s := range all {
		p := s.packages[0]
		if s.cause != nil {
			said := mirrorProblem(p)
			said.Detail = "Failed to download these providers:" + s.text()
			problems = append(problems, said)
			continue
		}
		switch {
		case p.failed != nil:
			problems = append(problems, mirrorProblem(p))
		case getproviders.CodeOf(p.err) == "mirror_index":
			problems = append(problems, problem.CodedError("mirror_index", "Failed to update indexes",
				fmt.Sprintf("The indexes can't list all that is in the mirror: %s", WithHint(p.err))))
		default:
			problems = append(problems, problem.CodedError("mirror_index", "Failed to write the mirror", unwritten(p.err)))
		}
	}
	return problems
}

// LockedMismatch says that lock files don't fit what configurations require, in
// Terraform's words.
func LockedMismatch(product getproviders.Product, dir, reason string) *problem.Problem {
	return problem.CodedError("locked_version", "Inconsistent dependency lock file", fmt.Sprintf(
		"The lock file in %s doesn't fit the configuration: %s.\n\n"+
			"To update the locked dependency selections to match a changed configuration, run:\n  %s init -upgrade", dir, reason, product.Program))
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
		return problem.CodedError("package_not_found", "Provider not available", fmt.Sprintf(
			"Failed to download %s: %s", p.failed.Provider, WithHint(p.cause)))
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
	all, interrupted := byCause(err)
	if interrupted {
		return problem.List{canceled()}
	}
	var problems problem.List
	for _, s := range all {
		p := s.packages[0]
		text := WithHint(p.cause)
		switch {
		case s.cause != nil:
			text = "These packages were not sent:" + s.text()
		case p.failed != nil:
			text = fmt.Sprintf("%s v%s: %s", product.Short(p.failed.Provider), p.failed.Version, text)
		}
		problems = append(problems, problem.Because(p.err, problem.CodedError("bucket", "Failed to push packages", text)))
	}
	return problems
}

// LocateProblems explains what isn't known: one problem for each cause that several
// packages failed for, and each other package.
func LocateProblems(err error) (problems problem.List) {
	all, interrupted := byCause(err)
	if interrupted {
		return problem.List{problem.CodedError("interrupted", "The search was canceled by an interrupt signal.", "")}
	}
	for _, s := range all {
		p := s.packages[0]
		text := WithHint(p.cause)
		switch {
		case s.cause != nil:
			text = "The source of these providers doesn't say where their packages are:" + s.text()
		case p.failed != nil:
			text = p.name() + ": " + text
		}
		problems = append(problems, problem.CodedError("package_not_found", "Provider package not found", text))
	}
	return problems
}

// RegistryWarning is what sources want the users of a provider to know:
// registries of the provider, policies of a source that failed.
func RegistryWarning(short string, texts []string) *problem.Problem {
	var b strings.Builder
	b.WriteString("The sources of " + short + " returned warnings:")
	for _, text := range texts {
		b.WriteString("\n- " + text)
	}
	return problem.Warning("Additional provider information from registry", b.String())
}
