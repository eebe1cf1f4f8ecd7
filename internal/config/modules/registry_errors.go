package modules

import (
	"errors"
	"fmt"
	"net/http"

	version "github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Errors that callers branch on, with errors.Is. getproviders.ErrUnauthorized and
// getproviders.ErrUnreachable apply to modules, too.
var (
	// ErrModuleNotFound: the registry answered that it doesn't have the module, or this version of
	// it.
	ErrModuleNotFound = errors.New("module not found")
	// ErrNoVersion: the registry has the module, but no allowed version.
	ErrNoVersion = errors.New("no version of the module is allowed")
	// errNoVersions: the registry has no version of the module.
	errNoVersions = fmt.Errorf("%w: there is none", ErrNoVersion)
	// errLocation: the registry's location of the package is invalid.
	errLocation = errors.New("invalid location")
	// ErrOffline: the answer isn't stored, and no registry may be asked.
	ErrOffline = errors.New("not known without asking the registry")
)

// release is one version of a module.
type release struct {
	module  Registry // without subdirectory
	version string
}

// failed returns the error of a query to a registry about a module. err names the URL; nil with ErrOffline.
func (about release) failed(kind, err error, hint string) *getproviders.Fault {
	host, module, what, are := about.module.Host, about.module.Package(), "the versions of ", "are"
	if about.version != "" {
		what, are = "the location of ", "is"
	}
	failed := &getproviders.Fault{Code: "unreachable", Kind: kind, Subject: getproviders.Subject{Host: host}, Hint: hint}
	if what += module; about.version != "" {
		what += " " + about.version
		module += " in version " + about.version
	}
	failed.Err = fmt.Errorf("could not ask the registry at %s for %s: %w", host, what, err)
	switch kind {
	case ErrModuleNotFound:
		failed.Code, failed.Err = "module_not_found", fmt.Errorf("the registry at %s does not have the module %s: %w", host, module, err)
	case ErrOffline:
		failed.Code, failed.Err = "offline", fmt.Errorf("%s %s not known without asking the registry at %s, and no requests are allowed", what, are, host)
	case getproviders.ErrUnauthorized:
		failed.Code = "unauthorized"
	}
	return failed
}

// headline returns a summary of a problem with a registry.
func headline(err error) string {
	switch {
	case errors.Is(err, ErrModuleNotFound):
		return "Module not found"
	case errors.Is(err, ErrOffline):
		return "Module not known offline"
	case errors.Is(err, errNoVersions):
		return "Module has no versions"
	case errors.Is(err, ErrNoVersion):
		return "Unresolvable module version constraint"
	case errors.Is(err, errLocation):
		return "Invalid package location from module registry"
	default:
		return "Error accessing remote module registry"
	}
}

// noVersion returns the error for a module without an allowed version. newest is its newest release, and prerelease
// the newest prerelease that wasn't considered; each may be nil.
func noVersion(module Registry, constraint string, newest, prerelease *version.Version) error {
	failed := &getproviders.Fault{Code: "no_module_version", Kind: ErrNoVersion}
	if newest == nil {
		failed.Kind, failed.Err = errNoVersions, fmt.Errorf("the registry at %s has no versions of the module %s", module.Host, module.Package())
	} else {
		failed.Err = fmt.Errorf("no version of the module %s matches the constraint %q; the newest available version is %s", module.Package(), constraint, newest)
	}
	if prerelease != nil {
		failed.Hint = fmt.Sprintf("a prerelease is chosen only where the constraint is that very version: the newest is version = %q", prerelease)
	}
	return failed
}

// judge returns an error for an answer without the expected status.
func judge(about release, req hosts.DocumentRequest, doc *hosts.Document) error {
	located := about.version != "" && doc.StatusCode == http.StatusNoContent
	if located || doc.StatusCode == http.StatusOK {
		return nil
	}
	status := &hosts.StatusError{Document: doc}
	switch {
	case doc.StatusCode == http.StatusNotFound && about.version != "":
		return about.failed(ErrModuleNotFound, status, "the registry lists the version, and has nothing to download for it: tell those who run the registry")
	case doc.StatusCode == http.StatusNotFound: // many registries answer this for private modules
		return about.failed(ErrModuleNotFound, &hosts.Refusal{
			Host: about.module.Host, Sent: req.Header.Get("Authorization") != "", Err: status,
			Lead: "check the namespace, the name and the target system in the address. If the module is private, ",
		}, "")
	case hosts.Refuses(doc.StatusCode):
		refusal := hosts.ExplainRefusal(about.module.Host, req, doc)
		return about.failed(getproviders.ErrUnauthorized, fmt.Errorf("host %s %s: %w", refusal.Host, refusal.Says(doc.StatusCode), refusal), "")
	}
	return about.failed(getproviders.ErrUnreachable, status, "")
}

// unanswered returns the error of a request without an answer.
func unanswered(about release, err error) error {
	kind, advice := getproviders.ErrUnreachable, ""
	switch {
	case errors.Is(err, getproviders.ErrUnauthorized): // service discovery may want credentials
		kind = getproviders.ErrUnauthorized
	case errors.Is(err, hosts.ErrNoService):
		advice = fmt.Sprintf("%s is not a module registry: check the host in the address", about.module.Host)
	}
	return about.failed(kind, err, advice)
}

// malformed returns the error of an answer that doesn't follow the protocol, or nil if err is nil.
func malformed(about release, doc *hosts.Document, err error) error {
	if err == nil {
		return nil
	}
	failed := about.failed(getproviders.ErrUnreachable, fmt.Errorf("malformed answer from %q: %w", hosts.RedactURL(doc.URL), err), hosts.MalformedAdvice(doc.Body, err))
	failed.Code = "invalid_answer"
	return failed
}

// offline returns the error for an answer that isn't stored.
func offline(about release) error {
	return about.failed(ErrOffline, nil, "run once where requests are allowed: what is installed then is remembered")
}
