// Package explain turns errors into problems with advice and a code, and prints problems for people.
package explain

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Suggest returns the address that was probably meant by one that doesn't exist; the bool is false without one.
type Suggest func(getproviders.Provider) (Suggestion, bool)

// Suggestion is the address of an existing provider.
type Suggestion struct {
	Provider getproviders.Provider
	Versions []getproviders.Version // of that provider; nil if unknown
}

// InstallProblems explains the error of an installation: one problem for
// each cause, in the order of the error's parts, but a single one for all packages that
// are missing while requests are forbidden. An interrupt, which ends
// the work on all providers, is reported once.
func (n Names) InstallProblems(req getproviders.Requirements, err error, suggest Suggest) problem.List {
	var problems problem.List
	var missing []*getproviders.NotCachedError
	interrupted := false
	for _, c := range cause.Causes(err) {
		var explained *problem.Problem
		absent := wrapped.As[*getproviders.NotCachedError](c.Err)
		switch {
		case isInterrupt(c):
			interrupted = true
			continue
		case len(c.Failures) > 1:
			explained = n.manyFailed(c)
		case len(absent) > 0:
			missing = append(missing, absent...)
			continue
		case len(c.Failures) == 1:
			explained = failure{Names: n, req: req, Fault: c.Failures[0], suggest: suggest}.problem()
		default:
			explained = problem.Error("failed", "Failed to install providers", n.allFailed(c.Err))
		}
		problems = append(problems, problem.Because(c.Err, explained))
	}
	if len(missing) > 0 {
		problems = append(problem.List{n.notCached(req, missing)}, problems...)
	}
	if interrupted {
		problems = append(problems, canceled("Provider installation"))
	}
	return problems
}

// manyFailed explains a cause that several providers share.
func (n Names) manyFailed(cause cause.Cause) *problem.Problem {
	names := texts(cause.Failures, n.shortName)
	code, summary, doing := "failed", "Failed to install provider", "Error while installing these providers:"
	switch {
	case errors.Is(cause.Err, hosts.ErrNoService), errors.Is(cause.Err, hosts.ErrServiceVersion):
		code, summary, doing = "no_service", "Invalid provider registry host", "The host in the addresses of these providers is not a provider registry:"
	case !slices.ContainsFunc(cause.Failures, knewVersion):
		summary, doing = n.queryFailed(cause.Err)
		code, doing = "unreachable", doing+" these providers:"
	}
	return problem.Error(code, summary, doing+problem.Items(names)+"\n\n"+n.Explained(cause.Err))
}

// shortName returns a provider with its version, if that is known.
func (n Names) shortName(f *getproviders.Fault) string {
	if f.Version.IsZero() {
		return n.Short(f.Provider)
	}
	return n.Short(f.Provider) + " v" + f.Version.String()
}

// queryFailed returns the product's words for a provider whose version can't be chosen.
func (n Names) queryFailed(err error) (summary, doing string) {
	words := SpeechOf(n.Product).unresolved
	if errors.Is(err, getproviders.ErrProviderNotFound) {
		words = notListed
	}
	return words[0], words[1]
}

// allFailed explains an error that is about no single provider, and lists the providers that
// aren't installed because of it.
func (n Names) allFailed(err error) string {
	if failed, ok := errors.AsType[*getproviders.Fault](err); ok && len(failed.Providers) > 0 {
		return n.Explained(err) + list("These providers are not installed:", texts(failed.Providers, n.Short))
	}
	return n.WithHint(err)
}

// failure is one provider's failure, with the data that explains it.
type failure struct {
	*getproviders.Fault
	Names
	req     getproviders.Requirements
	suggest Suggest
}

func (f failure) problem() *problem.Problem {
	short := f.Short(f.Provider)
	switch {
	case f.Step == during.BuiltIn:
		correct := ""
		if f.Provider.Type != "terraform" {
			correct = "\n\nCorrect the source: the only built-in provider is terraform.io/builtin/terraform."
		}
		return problem.Errorf("built_in_provider", "Invalid dependency on built-in provider",
			"Cannot use %s: %s%s%s", short, f.WithHint(f.Err), correct, f.requiredBy())
	case errors.Is(f.Err, getproviders.ErrProtocol), errors.Is(f.Err, getproviders.ErrPlatformMissing):
		return problem.Error("platform_missing", "Incompatible provider version", f.Explained(f.Err)+f.otherPackage()+f.requiredBy())
	case errors.Is(f.Err, hosts.ErrNoService), errors.Is(f.Err, hosts.ErrServiceVersion):
		return problem.Error("no_service", "Invalid provider registry host", f.noRegistry(short)+f.requiredBy())
	case !knewVersion(f.Fault):
		summary, doing := f.queryFailed(f.Err)
		return problem.Errorf("unreachable", summary, "%s provider %s: %s%s", doing, short, f.WithHint(f.Err), f.otherAddress())
	default:
		text := fmt.Sprintf("Error while installing %s v%s: %s", short, f.Fault.Version, f.WithHint(f.Err))
		if errors.Is(f.Err, getproviders.ErrVersionNotFound) && f.isRequired() {
			text += "\n\nIf the lock file selects this version, \"" + f.Called + " init -upgrade\" selects another one."
		}
		return problem.Error("failed", "Failed to install provider", text)
	}
}

// otherAddress explains the commonest mistake: a provider without an entry in required_providers
// gets the default namespace, in which it doesn't exist.
// If another address has the provider, the text compares its versions with the constraints.
func (f failure) otherAddress() string {
	if !errors.Is(f.Err, getproviders.ErrProviderNotFound) {
		return f.requiredBy()
	}
	implied, err := f.ImpliedProvider(f.Provider.Type)
	other, ok := Suggestion{}, f.suggest != nil && err == nil && implied == f.Provider
	if ok {
		other, ok = f.suggest(f.Provider)
	}
	text, find := "\n\n", fmt.Sprintf("To see which modules are currently depending on %s, run the following command:\n    %s providers",
		f.Short(f.Provider), f.Program)
	missing := getproviders.FaultOf(f.Err, getproviders.ErrProviderNotFound)
	switch {
	case !ok && (missing == nil || !missing.Registry):
		return f.requiredBy()
	case !ok && !f.isRequired():
		return text + "Check how the address is written: it is [HOST/]NAMESPACE/TYPE."
	case !ok:
		return text + "All modules should specify their required_providers so that external consumers will get the " +
			"correct providers when using a module. " + find + f.requiredBy()
	}
	text += fmt.Sprintf("Did you intend to use %s? If so, you must specify that source address in each module which requires that provider. ",
		f.Short(other.Provider)) + find
	if len(other.Versions) == 0 || f.req.Constraints(f.Provider).IsEmpty() {
		return text + f.requiredBy()
	}
	sentence := fmt.Sprintf("The provider is required by these, which are compared with the versions of %s:", f.Short(other.Provider))
	return text + conflictText(sentence, cause.FindConflict(f.req[f.Provider], other.Versions))
}

// otherPackage says what to use if a version has no package for this platform.
func (f failure) otherPackage() string {
	missing := getproviders.FaultOf(f.Err, getproviders.ErrPlatformMissing)
	switch {
	case missing == nil:
		return ""
	case !missing.Newest.IsZero():
		return fmt.Sprintf("\n\nTo use that version, require it: version = %q. If the lock file has another one, run \"%s init -upgrade\".", missing.Newest.String(), f.Called)
	case !missing.Nowhere:
		return ""
	}
	text := "\n\nUse another provider in its place, or ask its publisher for a package."
	if f.Provider.Namespace == "hashicorp" && f.Provider.Type == "template" {
		text = "\n\nIts publisher has given it up: the function templatefile replaces template_file, and the provider hashicorp/cloudinit replaces template_cloudinit_config."
	}
	by := map[string]string{"darwin": "Rosetta 2", "windows": "emulation"}[missing.Platform.OS]
	emulated := getproviders.Platform{OS: missing.Platform.OS, Arch: "amd64"}
	if by != "" && missing.Platform.Arch == "arm64" && slices.Contains(missing.Platforms, emulated) {
		text += fmt.Sprintf(" Or use %s and tfdeps for %s, by %s.", f.Program, emulated, by)
	}
	if f.isRequired() {
		text += " The option -platform only adds hashes to the lock file."
	}
	return text
}

// isRequired reports whether a configuration requires the provider, or may do so: req is nil if that is unknown.
func (f failure) isRequired() bool { return f.req == nil || len(f.req[f.Provider]) > 0 }

// requiredBy lists who requires the provider, and if the failure is about
// constraints, which of these can't be satisfied.
func (f failure) requiredBy() string {
	if none, ok := errors.AsType[*cause.NoVersionError](f.Err); ok {
		return conflictText(whoRequires, none.Conflict)
	}
	if locked, ok := errors.AsType[*cause.LockedVersionError](f.Err); ok {
		return lockedText(locked)
	}
	return requiredBy(f.req, f.Provider)
}

// knewVersion reports whether the provider failed after its version was chosen.
func knewVersion(f *getproviders.Fault) bool {
	return f.Step != during.Lock && f.Step != during.Query && f.Step != during.Select
}

func (f failure) noRegistry(short string) string {
	text := fmt.Sprintf("The host %q in the address of provider %s is not a provider registry: %s",
		f.Provider.Hostname, short, f.WithHint(f.Err))
	if f.Provider.Hostname == "github.com" {
		text += "\n\nThe address names a repository on GitHub. The provider's documentation says under which address " +
			"a registry has it."
	} else {
		text += "\n\nCheck how the host is written: it is the first of the three parts of the address. A provider of the public registry needs none."
	}
	return text
}
