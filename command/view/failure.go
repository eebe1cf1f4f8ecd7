package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/providercache"
)

// Suggest finds the address that was probably meant by one that nobody knows.
type Suggest func(getproviders.Provider) (getproviders.Provider, bool)

// InstallProblems explains what an installation failed with: one problem for
// each provider, in the order of the error's parts. An interrupt, which ends
// the work on all providers, is told once.
func InstallProblems(engine getproviders.Engine, req getproviders.Requirements, err error, suggest Suggest) Problems {
	var problems Problems
	interrupted := false
	for _, e := range parts(err) {
		failed, ok := errors.AsType[*providercache.ProviderError](e)
		switch {
		case ok && failed.Step == providercache.StepCancel, !ok && errors.Is(e, context.Canceled):
			interrupted = true
		case ok:
			f := failure{engine: engine, req: req, ProviderError: failed, suggest: suggest}
			problems = append(problems, f.problem())
		default:
			problems = append(problems, NewError("Failed to install providers", withHint(e)))
		}
	}
	if interrupted {
		problems = append(problems, NewError("Provider installation was canceled by an interrupt signal.", ""))
	}
	return problems
}

// parts takes joined errors apart.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// failure is one provider's failure on its way to words.
type failure struct {
	*providercache.ProviderError
	engine  getproviders.Engine
	req     getproviders.Requirements
	suggest Suggest
}

func (f failure) problem() *Problem {
	short := f.engine.Short(f.Provider)
	switch {
	case f.Step == providercache.StepBuiltIn:
		return NewError("Invalid dependency on built-in provider",
			fmt.Sprintf("Cannot use %s: %s", short, withHint(f.Err))+f.requiredBy())
	case errors.Is(f.Err, getproviders.ErrProtocol), errors.Is(f.Err, getproviders.ErrPlatformMissing):
		return NewError("Incompatible provider version", sentence(withHint(f.Err))+f.requiredBy())
	case errors.Is(f.Err, hosts.ErrNoService), errors.Is(f.Err, hosts.ErrServiceVersion):
		return NewError("Invalid provider registry host", f.noRegistry(short)+f.requiredBy())
	case f.beforeSelection():
		return NewError("Failed to query available provider packages",
			fmt.Sprintf("Could not retrieve the list of available versions for provider %s: %s", short, withHint(f.Err))+
				f.didYouMean()+f.requiredBy())
	default:
		return NewError("Failed to install provider",
			fmt.Sprintf("Error while installing %s v%s: %s", short, f.Version, withHint(f.Err)))
	}
}

// requiredBy is RequiredBy, unless the failure is about certain requirements:
// then its hint names them.
func (f failure) requiredBy() string {
	if f.Step == providercache.StepLock {
		return ""
	}
	return RequiredBy(f.req, f.Provider)
}

// beforeSelection reports whether it wasn't known yet which version to install.
func (f failure) beforeSelection() bool {
	switch f.Step {
	case providercache.StepLock, providercache.StepQuery, providercache.StepSelect:
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

// didYouMean answers the commonest mistake: a configuration that says nothing
// about where a provider comes from gets the default namespace, where it isn't.
func (f failure) didYouMean() string {
	if f.suggest == nil || !errors.Is(f.Err, getproviders.ErrProviderNotFound) {
		return ""
	}
	implied, err := f.engine.ImpliedProvider(f.Provider.Type)
	if err != nil || implied != f.Provider {
		return ""
	}
	if other, ok := f.suggest(f.Provider); ok {
		return fmt.Sprintf("\n\nDid you intend to use %s? If so, name it as the source in required_providers, "+
			"in each module which requires that provider.", f.engine.Short(other))
	}
	return "\n\nEvery module has to name the source of each of its providers in required_providers; " +
		"where none is named, the namespace is " + f.Provider.Namespace + "."
}

// withHint is an error's text with what its parts advise, each once.
func withHint(err error) string {
	text := err.Error()
	for _, hint := range hints(err) {
		if !strings.Contains(text, hint) {
			text += "\n\nhint: " + hint
		}
	}
	return text
}

// hints collects the advice of an error and of what it wraps.
func hints(err error) []string {
	var all []string
	if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
		all = append(all, h.Hint())
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			all = append(all, hints(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, hints(inner)...)
		}
	}
	return all
}

// RequiredBy says where a provider is asked for, as the end of an explanation;
// "" if that isn't known.
func RequiredBy(req getproviders.Requirements, p getproviders.Provider) string {
	var b strings.Builder
	for _, r := range req[p] {
		if r.Origin.File == "" {
			continue
		}
		fmt.Fprintf(&b, "\n  - %s:%d", r.Origin.File, r.Origin.Line)
		if r.Origin.Module != "" {
			fmt.Fprintf(&b, " (%s)", r.Origin.Module)
		}
		if !r.Constraints.IsEmpty() {
			fmt.Fprintf(&b, ": %s", r.Constraints)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nThe provider is required by:" + b.String()
}
