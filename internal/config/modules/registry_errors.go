package modules

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// What callers branch on, with errors.Is, beside getproviders.ErrUnauthorized
// and getproviders.ErrUnreachable, which mean for modules what they mean for
// providers.
var (
	// ErrModuleNotFound: the registry answered, and doesn't have the module, or
	// this version of it.
	ErrModuleNotFound = errors.New("module not found")
	// ErrNoVersion: the registry has the module, in no version that will do.
	ErrNoVersion = errors.New("no version of the module will do")
	// ErrAddress: what was asked about can't be a module of a registry.
	ErrAddress = errors.New("this is no address of a registry's module")
	// ErrOffline: it isn't known, and no registry may be asked.
	ErrOffline = errors.New("not known without asking the registry")
)

// RegistryError says why a registry didn't tell what it was asked about a
// module. It is all of Kind and its cause for errors.Is and errors.As.
type RegistryError struct {
	Module  Registry // without subdirectory
	Version string   // "" if it was asked which versions there are
	Kind    error    // ErrModuleNotFound, ErrOffline, getproviders.ErrUnauthorized or ErrUnreachable
	Err     error    // names the URL; nil with ErrOffline
	Advice  string   // what may be wrong; "" if nothing is known
}

// Error implements error.
func (e *RegistryError) Error() string {
	what := "the versions of " + e.Module.Package()
	if e.Version != "" {
		what = "the location of " + e.Module.Package() + " " + e.Version
	}
	switch e.Kind {
	case ErrModuleNotFound:
		what := e.Module.Package()
		if e.Version != "" {
			what += " in version " + e.Version
		}
		return fmt.Sprintf("the registry at %s does not have the module %s: %v", e.Module.Host, what, e.Err)
	case ErrOffline:
		return fmt.Sprintf("%s %s without asking the registry at %s, and that may not be asked", what, notKnown(e.Version), e.Module.Host)
	default:
		return fmt.Sprintf("could not ask the registry at %s for %s: %v", e.Module.Host, what, e.Err)
	}
}

func notKnown(version string) string {
	if version == "" {
		return "are not known"
	}
	return "is not known"
}

// Summary is the problem as a headline.
func (e *RegistryError) Summary() string {
	if _, ok := errors.AsType[*locationError](e.Err); ok {
		return "Invalid package location from module registry"
	}
	switch e.Kind {
	case ErrModuleNotFound:
		return "Module not found"
	case ErrOffline:
		return "Module not known offline"
	default:
		return "Error accessing remote module registry"
	}
}

// Code is "module_not_found", "offline", "unauthorized", "invalid_answer" or "unreachable".
func (e *RegistryError) Code() string {
	switch e.Kind {
	case ErrModuleNotFound:
		return "module_not_found"
	case ErrOffline:
		return "offline"
	case getproviders.ErrUnauthorized:
		return "unauthorized"
	}
	if _, ok := errors.AsType[*answerError](e.Err); ok {
		return "invalid_answer"
	}
	return "unreachable"
}

// Hint says what may be wrong, or what to do.
func (e *RegistryError) Hint() string { return e.Advice }

// Unwrap returns Kind and the cause.
func (e *RegistryError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// NoVersionError says that a registry has no version of a module that a call
// may have. It matches ErrNoVersion.
type NoVersionError struct {
	Module     Registry // without subdirectory
	Constraint string   // as it is written; "" if the call has none
	Newest     string   // the newest release; "" if there is none
	Prerelease string   // the newest prerelease that wasn't considered; "" if there is none
}

// Error implements error.
func (e *NoVersionError) Error() string {
	if e.Newest == "" {
		return fmt.Sprintf("the registry at %s has no versions of the module %s", e.Module.Host, e.Module.Package())
	}
	return fmt.Sprintf("no version of the module %s matches the constraint %q; the newest available version is %s",
		e.Module.Package(), e.Constraint, e.Newest)
}

// Code is "no_module_version".
func (e *NoVersionError) Code() string { return "no_module_version" }

// Is reports whether target is ErrNoVersion.
func (e *NoVersionError) Is(target error) bool { return target == ErrNoVersion }

// Summary is the problem as a headline.
func (e *NoVersionError) Summary() string {
	if e.Newest == "" {
		return "Module has no versions"
	}
	return "Unresolvable module version constraint"
}

// Hint names prereleases that would fit.
func (e *NoVersionError) Hint() string {
	if e.Prerelease == "" {
		return ""
	}
	return fmt.Sprintf("a prerelease is chosen only where the constraint is that very version: the newest is version = %q", e.Prerelease)
}

// judge makes an error of an answer that isn't the one that was hoped for.
func judge(about release, req hosts.DocumentRequest, doc *hosts.Document) error {
	located := about.version != "" && doc.StatusCode == http.StatusNoContent
	if located || doc.StatusCode == http.StatusOK {
		return nil
	}
	status := &getproviders.StatusError{
		URL:        hosts.RedactURL(doc.URL),
		Status:     doc.Status,
		StatusCode: doc.StatusCode,
		Attempts:   doc.Attempts,
	}
	failed := &RegistryError{Module: about.module, Version: about.version, Kind: getproviders.ErrUnreachable, Err: status}
	switch {
	case doc.StatusCode == http.StatusNotFound:
		failed.Kind = ErrModuleNotFound
		failed.Advice = notFoundAdvice(about, req)
	case hosts.Refuses(doc.StatusCode):
		refusal := hosts.ExplainRefusal(about.module.Host, req, doc)
		failed.Kind = getproviders.ErrUnauthorized
		failed.Err = fmt.Errorf("host %s %s: %w", refusal.Host, refusal.Says(doc.StatusCode), status)
		failed.Advice = refusal.Advice
	}
	return failed
}

// notFoundAdvice is about 404, which is what many registries answer about
// private modules.
func notFoundAdvice(about release, req hosts.DocumentRequest) string {
	host := about.module.Host
	switch {
	case about.version != "":
		return "the registry lists the version, and has nothing to download for it; that is for those to mend who run it"
	case req.Header.Get("Authorization") != "":
		return "check the namespace, the name and the target system in the address. If the module is private, " + hosts.RejectedAdvice(host)
	default:
		return "check the namespace, the name and the target system in the address. If the module is private, " + hosts.MissingAdvice(host)
	}
}

// unanswered is about a request that got no answer.
func unanswered(about release, err error) error {
	failed := &RegistryError{Module: about.module, Version: about.version, Kind: getproviders.ErrUnreachable, Err: err}
	if discovery, ok := errors.AsType[*hosts.DiscoveryError](err); ok {
		failed.Advice = discovery.Advice()
		if hosts.Refuses(discovery.StatusCode) {
			failed.Kind = getproviders.ErrUnauthorized
		}
		if errors.Is(err, hosts.ErrNoService) {
			failed.Advice = fmt.Sprintf("%s is no registry of modules; check the host in the address", about.module.Host)
		}
	}
	return failed
}

// malformed is about an answer that isn't what the protocol has; nil without
// an error.
func malformed(about release, doc *hosts.Document, err error) error {
	if err == nil {
		return nil
	}
	return &RegistryError{Module: about.module, Version: about.version, Kind: getproviders.ErrUnreachable,
		Err: &answerError{url: hosts.RedactURL(doc.URL), err: err}, Advice: hosts.MalformedAdvice(doc.Body, err)}
}

// answerError is an answer that isn't what the protocol has.
type answerError struct {
	url string
	err error
}

func (e *answerError) Error() string {
	return fmt.Sprintf("malformed answer from %q: %v", e.url, e.err)
}
func (e *answerError) Unwrap() error { return e.err }

// offline is about what isn't remembered.
func offline(about release) error {
	return &RegistryError{Module: about.module, Version: about.version, Kind: ErrOffline,
		Advice: "run once without being offline: what is installed then is remembered"}
}

// causeOr returns what a caller gets that shared a question with others: the
// end of the caller's own context is no failure of a registry.
func causeOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
