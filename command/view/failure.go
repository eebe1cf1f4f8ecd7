package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Suggest finds the address that was probably meant by one that doesn't exist.
type Suggest func(getproviders.Provider) (Suggestion, bool)

// Suggestion is an address under which there is a provider.
type Suggestion struct {
	Provider getproviders.Provider
	Versions []getproviders.Version // there; none if they aren't known
}

// InstallProblems explains what an installation failed with: one problem for
// each cause, in the order of the error's parts, but one for all that isn't
// there and can't be asked for. An interrupt, which ends
// the work on all providers, is reported once.
func InstallProblems(product getproviders.Product, req getproviders.Requirements, err error, suggest Suggest) problem.List {
	var problems problem.List
	var missing []*getproviders.NotCachedError
	interrupted := false
	for _, cause := range resolve.Causes(err) {
		failed, ok := errors.AsType[*resolve.ProviderError](cause.Err)
		switch {
		case len(cause.Failures) > 1:
			problems = append(problems, problem.Because(cause.Err, manyFailed(product, cause)))
		case ok && failed.Step == resolve.StepCancel, !ok && errors.Is(cause.Err, context.Canceled):
			interrupted = true
		case len(getproviders.NotCached(cause.Err)) > 0:
			missing = append(missing, getproviders.NotCached(cause.Err)...)
		case ok:
			f := failure{product: product, req: req, ProviderError: failed, suggest: suggest}
			problems = append(problems, problem.Because(cause.Err, f.problem()))
		default:
			problems = append(problems, problem.Because(cause.Err, problem.CodedError("failed", "Failed to install providers",
				allFailed(product, cause.Err))))
		}
	}
	if len(missing) > 0 {
		problems = append(problem.List{notCached(product, req, missing)}, problems...)
	}
	if interrupted {
		problems = append(problems, canceled())
	}
	return problems
}

// manyFailed is about a cause for which several providers failed.
func manyFailed(product getproviders.Product, cause resolve.Cause) *problem.Problem {
	var names []string
	asked := true
	for _, f := range cause.Failures {
		name := product.Short(f.Provider)
		if f.Version != (getproviders.Version{}) {
			name += " v" + f.Version.String()
		}
		names = append(names, name)
		asked = asked && failure{ProviderError: f}.beforeSelection()
	}
	summary, doing := "Failed to install provider", "Error while installing these providers:"
	switch {
	case errors.Is(cause.Err, hosts.ErrNoService), errors.Is(cause.Err, hosts.ErrServiceVersion):
		summary, doing = "Invalid provider registry host", "The host in the addresses of these providers is no provider registry:"
	case asked:
		summary, doing = "Failed to query available provider packages", "Could not retrieve the list of available versions for these providers:"
	}
	return problem.Error(summary, doing+problem.Items(names)+"\n\n"+sentence(withHint(cause.Err)))
}

// allFailed is about what no single provider failed with, and lists those that it
// kept from being installed.
func allFailed(product getproviders.Product, err error) string {
	var providers []getproviders.Provider
	if unwritable, ok := errors.AsType[*resolve.UnwritableError](err); ok {
		providers = unwritable.Providers
	} else if full, ok := errors.AsType[*resolve.NoSpaceError](err); ok {
		providers = full.Providers
	}
	if len(providers) == 0 {
		return withHint(err)
	}
	var names []string
	for _, p := range providers {
		names = append(names, product.Short(p))
	}
	return sentence(withHint(err)) + "\n\nThese providers are not installed:" + problem.Items(names)
}

// failure is one provider's failure on its way to words.
type failure struct {
	*resolve.ProviderError
	product getproviders.Product
	req     getproviders.Requirements
	suggest Suggest
}

func (f failure) problem() *problem.Problem {
	short := f.product.Short(f.Provider)
	switch {
	case f.Step == resolve.StepBuiltIn:
		return problem.CodedError("built_in_provider", "Invalid dependency on built-in provider",
			fmt.Sprintf("Cannot use %s: %s", short, withHint(f.Err))+f.requiredBy())
	case errors.Is(f.Err, getproviders.ErrProtocol), errors.Is(f.Err, getproviders.ErrPlatformMissing):
		return problem.CodedError("platform_missing", "Incompatible provider version", sentence(withHint(f.Err))+f.requiredBy())
	case errors.Is(f.Err, hosts.ErrNoService), errors.Is(f.Err, hosts.ErrServiceVersion):
		return problem.CodedError("no_service", "Invalid provider registry host", f.noRegistry(short)+f.requiredBy())
	case f.beforeSelection():
		return problem.CodedError("unreachable", "Failed to query available provider packages",
			fmt.Sprintf("Could not retrieve the list of available versions for provider %s: %s", short, withHint(f.Err))+
				f.otherAddress())
	default:
		return problem.CodedError("failed", "Failed to install provider",
			fmt.Sprintf("Error while installing %s v%s: %s", short, f.Version, withHint(f.Err)))
	}
}

// requiredBy says who asks for the provider, and if the failure is about what
// they ask for, who of them does so in vain.
func (f failure) requiredBy() string {
	if none, ok := errors.AsType[*resolve.NoVersionError](f.Err); ok {
		return conflictText(whoRequires, none.Conflict)
	}
	if locked, ok := errors.AsType[*resolve.LockedVersionError](f.Err); ok {
		return lockedText(locked)
	}
	return RequiredBy(f.req, f.Provider)
}

// beforeSelection reports whether it wasn't known yet which version to install.
func (f failure) beforeSelection() bool {
	switch f.Step {
	case resolve.StepLock, resolve.StepQuery, resolve.StepSelect:
		return true
	default:
		return false
	}
}

// sentence makes an error's text the beginning of an explanation.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func (f failure) noRegistry(short string) string {
	text := fmt.Sprintf("The host %q in the address of provider %s is no provider registry: %s",
		f.Provider.Hostname, short, withHint(f.Err))
	if f.Provider.Hostname == "github.com" {
		text += "\n\nThe address names a repository on GitHub. The provider's documentation says under which address " +
			"a registry has it."
	}
	return text
}

// withHint is an error's text with what its parts advise, each once.
func withHint(err error) string {
	text := err.Error()
	for _, hint := range hints(err) {
		if !strings.Contains(text, hint) {
			text += "\n\nhint: " + hint
		}
	}
	return withVariables(withTokens(text, err), err)
}

// hints collects the advice of an error and of what it wraps.
func hints(err error) (all []string) {
	for _, part := range wrapped(err) {
		if h, ok := part.(interface{ Hint() string }); ok && h.Hint() != "" {
			all = append(all, h.Hint())
		}
	}
	return all
}

// wrapped returns an error and all that it wraps, outer ones first.
func wrapped(err error) []error {
	all := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			all = append(all, wrapped(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, wrapped(inner)...)
		}
	}
	return all
}

// detail is what a problem has to say, with where tokens belong.
func detail(p *problem.Problem) string {
	if cause, ok := p.Extra.(modules.Unlocated); ok {
		return withTokens(p.Detail, cause.Err)
	}
	return p.Detail
}

// withTokens adds to the advice in an error's text where this program takes
// credentials from.
func withTokens(text string, err error) string {
	var all []hosts.Hostname
	for _, part := range wrapped(err) {
		switch e := part.(type) {
		case *getproviders.UnauthorizedError:
			all = append(all, e.Host)
		case *hosts.DiscoveryError:
			all = append(all, e.Host)
		case *modules.RegistryError:
			all = append(all, e.Module.Host)
		}
	}
	slices.Sort(all)
	for _, host := range slices.Compact(all) {
		block, from := fmt.Sprintf("a credentials block for %q in the CLI configuration", host.String()), "a credentials block or a credentials helper of the CLI configuration"
		if variable := hosts.TokenVariable(host); variable != "" {
			block = "the environment variable " + variable + ", or into " + block
			from = "the environment variable " + variable + ", " + from
		}
		text = strings.ReplaceAll(text, hosts.MissingAdvice(host), "put a token into "+block)
		text = strings.ReplaceAll(text, hosts.RejectedAdvice(host), hosts.RejectedAdvice(host)+"; they come from "+from)
	}
	return text
}

// withVariables adds to an error's text what of this program may help: a variable that allows
// more time, the command that makes room.
func withVariables(text string, err error) string {
	switch {
	case errors.Is(err, hosts.ErrTimeout):
		text += ". TF_REGISTRY_CLIENT_TIMEOUT allows more seconds"
	case errors.Is(err, resolve.ErrNoSpace), resolve.IsFull(err):
		if !errors.Is(err, resolve.ErrNoSpace) {
			text += "\n\nhint: the disk is full, or your quota is used up: free some room there"
		}
		text += ". This command removes unused packages from the shared cache:\n  tfdeps cache gc"
	}
	return text
}

// notCached is about all providers at once that would have to be asked for and
// may not be.
func notCached(product getproviders.Product, req getproviders.Requirements, missing []*getproviders.NotCachedError) *problem.Problem {
	var b strings.Builder
	fmt.Fprintf(&b, "%s allows no requests, and these are neither installed nor in the shared cache nor in a mirror on this machine. They would have to be downloaded:", missing[0].By)
	for i, m := range missing {
		if i > 0 && m.Provider == missing[i-1].Provider {
			fmt.Fprintf(&b, ", or of the %s", m.Source)
			continue
		}
		fmt.Fprintf(&b, "\n  - %s %s, of the %s", product.Short(m.Provider), wantedVersion(req, m), m.Source)
	}
	fmt.Fprintf(&b, "\n\nTo download them, run this once where requests are allowed, with the same cache:\n  %s\n\n"+
		"If this machine never has a network, install from a filesystem mirror.", primer(missing))
	return problem.CodedError("not_cached", "Not all providers are on this machine", b.String())
}

// primer is the command that gets what is missing: where the lock file says which
// versions, the cache is all that it takes.
func primer(missing []*getproviders.NotCachedError) string {
	for _, m := range missing {
		if m.Version == (getproviders.Version{}) {
			return "tfdeps init"
		}
	}
	return "tfdeps cache add -locked ."
}

// wantedVersion is which version is missing, and what it weighs.
func wantedVersion(req getproviders.Requirements, m *getproviders.NotCachedError) string {
	if m.Version == (getproviders.Version{}) {
		if wanted := req.Constraints(m.Provider); !wanted.IsEmpty() {
			return "(a version that is " + wanted.String() + ")"
		}
		return "(any version)"
	}
	text := m.Version.String()
	if m.Bytes > 0 {
		text += " (" + megabytes(m.Bytes) + ")"
	}
	return text
}

// IncompleteLock warns that lock entries were made which only this platform
// can use.
func IncompleteLock(product getproviders.Product, providers []getproviders.Provider) *problem.Problem {
	var list strings.Builder
	for _, p := range providers {
		list.WriteString("\n  - " + product.Short(p))
	}
	platform := getproviders.CurrentPlatform()
	return problem.CodedWarning("lock_file_outdated", "Incomplete lock file information for providers", fmt.Sprintf(
		"The packages of these providers come from a source that doesn't tell the checksums of other platforms, so that "+
			"%s could only calculate those of its own:%s\n\n"+
			"The lock file .terraform.lock.hcl only includes checksums for %s: on another platform it will be "+
			"of no use for these providers.\n\n"+
			"To calculate additional checksums for another platform, run:\n"+
			"  %s providers lock -platform=%s\n"+
			"(where %[5]s is the platform to generate)",
		product.Name, list.String(), platform, product.Program, otherPlatform(platform)))
}

// otherPlatform is an example of a platform other than the current one.
func otherPlatform(own getproviders.Platform) getproviders.Platform {
	if own.OS == "linux" {
		return getproviders.Platform{OS: "darwin", Arch: "arm64"}
	}
	return getproviders.Platform{OS: "linux", Arch: "amd64"}
}
