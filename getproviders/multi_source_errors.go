package getproviders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// SourcesError says that several sources together could not serve a query. It
// matches what the sources that failed answered; if none failed, what those
// answered that came nearest: a missing platform before a missing version,
// and that before a missing provider.
type SourcesError struct {
	provider Provider
	version  Version  // zero if versions were asked for
	platform Platform // likewise
	fallback Fallback // what the failure of a source meant
	answers  []answer // of every source, in order
}

// answer is what became of one source in a query.
type answer struct {
	source   string // as Source.Describe names it
	excluded string // which patterns say that the source is not for the provider; "" if it is
	asked    bool   // false if it is kept out or a source before it ended the query
	versions int    // how many it has, if versions were asked for
	err      error  // what it answered instead
}

// Error implements error. It has several lines.
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
		return fmt.Sprintf("there is no source to look for %s in", what)
	case len(e.failures()) > 0 && e.fallback == NextOnFailure:
		return fmt.Sprintf("%s was not found in any of the search locations, and not all of them work", what)
	case len(e.failures()) > 0:
		return fmt.Sprintf("the search for %s ended at a source that failed", what)
	default:
		return fmt.Sprintf("%s was not found in any of the search locations", what)
	}
}

// line is what the message says of a source. A registry that doesn't have the
// provider says so in the sentence that it has alone.
func (a answer) line() string {
	if missing := FaultOf(a.err, ErrProviderNotFound); missing != nil && missing.Registry && a.asked {
		return missing.Error() + advised(missing)
	}
	return a.source + ": " + a.text()
}

// text is what a line of the message says about the source. Its errors name
// source and provider themselves, which would read twice here.
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

// advised is what a source's answer advises, to be appended to a line about it.
// Of several answers not all are among those that count, whose hints are shown.
func advised(err error) string {
	if missing := FaultOf(err, ErrProviderNotFound); missing != nil && missing.Hint != "" {
		return " (" + missing.Hint + ")"
	}
	return ""
}

// code is that of the first answer that counts: "provider_not_found" where no
// source was asked.
func (e *SourcesError) code() string {
	for _, answer := range e.Unwrap() {
		if code := CodeOf(answer); code != "" {
			return code
		}
	}
	return "provider_not_found"
}

// Unwrap returns the answers that count.
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

// isAbsent reports whether a mirror doesn't have a provider. That is said with the
// list of the search locations, also if there is only one.
func isAbsent(err error) bool {
	missing, ok := err.(*Fault)
	return ok && missing.Kind == ErrProviderNotFound && !missing.Registry
}

// failure is what a query without result comes to. The end of the caller's
// context is no source's answer, a protocol that the product doesn't speak is a fact
// about the version, and a list of one source is no news, but for [isAbsent].
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

// Fallback says what a MultiSource does where a source doesn't serve.
//
// Whatever it says, a source that answers and lacks what it was asked for is
// no failure: the next one that is for the provider is asked. To keep the next
// one from serving a provider, use patterns, or Exclusive.
type Fallback string

const (
	// StopOnFailure ends a query at the first source that fails: going on
	// would quietly install something else than on a day when it works.
	StopOnFailure Fallback = ""
	// NextOnFailure takes a source that fails for one that lacks what it was
	// asked for, and says so.
	NextOnFailure Fallback = "next"
	// Exclusive is StopOnFailure, and asks a registry for nothing that any
	// mirror is for, even if no mirror has it.
	Exclusive Fallback = "exclusive"
)

// lacking reports whether an error means that a source is fine, but doesn't
// have what it was asked for.
func lacking(err error) bool {
	return errors.Is(err, ErrProviderNotFound) || errors.Is(err, ErrVersionNotFound) || errors.Is(err, ErrPlatformMissing)
}
