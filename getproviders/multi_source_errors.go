package getproviders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// SourcesError says that several sources together could not answer a query. It matches the errors
// of the sources that failed. If none failed, it matches those that came nearest: a missing
// platform before a missing version, and that before a missing provider.
type SourcesError struct {
	provider Provider
	version  Version  // zero in a query for versions
	platform Platform // zero in a query for versions
	fallback Fallback // of the MultiSource
	answers  []answer // of every source, in order
}

// answer is the result of one source in a query.
type answer struct {
	source   string // as Source.Describe names it
	excluded string // which patterns reject the provider; "" if none does
	asked    bool   // false if the source is excluded, or an earlier source ended the query
	versions int    // how many versions the source has, in a query for versions
	err      error  // the source's error
}

// Error implements error. The text has several lines.
func (e *SourcesError) Error() string {
	var text strings.Builder
	text.WriteString(e.summary() + "\n")
	for _, a := range e.answers {
		text.WriteString("\n  - " + a.line())
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (e *SourcesError) summary() string {
	what := fmt.Sprintf("provider %s", e.provider)
	if !e.version.IsZero() {
		what = fmt.Sprintf("provider %s v%s for %s", e.provider, e.version, e.platform)
	}
	switch {
	case len(e.answers) == 0:
		return fmt.Sprintf("no source is configured for %s", what)
	case len(e.failures()) > 0 && e.fallback == NextOnFailure:
		return fmt.Sprintf("%s was not found in any of the search locations, and not all of them work", what)
	case len(e.failures()) > 0:
		return fmt.Sprintf("the search for %s ended at a source that failed", what)
	default:
		return fmt.Sprintf("%s was not found in any of the search locations", what)
	}
}

// line returns the message's line about a source. A registry that doesn't have the provider keeps
// the sentence that it has as the only source.
func (a answer) line() string {
	if missing := FaultOf(a.err, ErrProviderNotFound); missing != nil && missing.Registry && a.asked {
		return missing.Error() + advised(missing)
	}
	return a.source + ": " + a.text()
}

// text returns the message about a source without the names of source and provider, which the line
// and the summary have already.
func (a answer) text() string {
	switch {
	case a.excluded != "":
		return a.excluded
	case !a.asked:
		return "not asked"
	case a.err == nil && a.versions == 0:
		return "has no version of it"
	case a.err == nil:
		return fmt.Sprintf("has versions of it: %d", a.versions)
	case errors.Is(a.err, hosts.ErrOffline):
		return "not asked, as no requests are allowed"
	case errors.Is(a.err, ErrPlatformMissing):
		return "has the version, but not for this platform"
	case errors.Is(a.err, ErrVersionNotFound):
		return "does not have the version"
	case errors.Is(a.err, ErrProviderNotFound):
		return "does not have the provider" + advised(a.err)
	default:
		return a.err.Error()
	}
}

// advised returns the hint of a source's error in parentheses. The hints of answers that Unwrap
// leaves out aren't shown elsewhere.
func advised(err error) string {
	if missing := FaultOf(err, ErrProviderNotFound); missing != nil && missing.Hint != "" {
		return " (" + missing.Hint + ")"
	}
	return ""
}

// code returns the code of the first error of Unwrap, or "provider_not_found" if no source was
// asked.
func (e *SourcesError) code() string {
	for _, answer := range e.Unwrap() {
		if code := CodeOf(answer); code != "" {
			return code
		}
	}
	return "provider_not_found"
}

// Unwrap returns the errors that decide: see [SourcesError].
func (e *SourcesError) Unwrap() []error {
	if failures := e.failures(); len(failures) > 0 {
		return failures
	}
	for _, kind := range []error{ErrPlatformMissing, ErrVersionNotFound, ErrProviderNotFound} {
		var errs []error
		for _, a := range e.answers {
			if errors.Is(a.err, kind) {
				errs = append(errs, a.err)
			}
		}
		if len(errs) > 0 {
			return errs
		}
	}
	return []error{ErrProviderNotFound} // no source was asked, or none has a version
}

// failures returns the errors of sources that failed.
func (e *SourcesError) failures() (errs []error) {
	for _, a := range e.answers {
		if a.err != nil && !lacking(a.err) {
			errs = append(errs, a.err)
		}
	}
	return errs
}

// isAbsent reports whether a mirror doesn't have a provider. That error always lists the search
// locations, even a single one.
func isAbsent(err error) bool {
	missing, ok := err.(*Fault)
	return ok && missing.Kind == ErrProviderNotFound && !missing.Registry
}

// failure returns the error of a query without result. It is the cause of a context that ended, not
// a source's error; the ErrProtocol of a version, which is the same in every source; the own error
// of a single source, unless [isAbsent]; or else e.
func failure(ctx context.Context, e *SourcesError) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range e.failures() {
		if errors.Is(err, ErrProtocol) {
			return err
		}
	}
	if len(e.answers) == 1 && e.answers[0].err != nil && !isAbsent(e.answers[0].err) {
		return e.answers[0].err
	}
	return e
}

// Fallback sets how a MultiSource continues after a source fails.
//
// A source that works, but lacks the requested provider, version or platform, hasn't failed: the next
// source for the provider is asked. To keep the next one from serving a provider, use patterns, or
// Exclusive.
type Fallback string

const (
	// StopOnFailure ends a query at the first source that fails: with the next source, the result
	// would depend on whether this one works today.
	StopOnFailure Fallback = ""
	// NextOnFailure asks the next source after one that fails, and adds a warning.
	NextOnFailure Fallback = "next"
	// Exclusive is StopOnFailure, and never asks a registry for a provider that any mirror's
	// patterns accept, even if no mirror has it.
	Exclusive Fallback = "exclusive"
)

// lacking reports whether an error means that a source works, but lacks the requested provider,
// version or platform.
func lacking(err error) bool {
	return errors.Is(err, ErrProviderNotFound) || errors.Is(err, ErrVersionNotFound) || errors.Is(err, ErrPlatformMissing)
}
