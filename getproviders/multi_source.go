package getproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// MultiSource asks several sources in order: mirrors before registries, say.
//
// A source that answers, but lacks the provider, the version or the platform,
// lets the next one answer; Terraform and OpenTofu give up where a network mirror
// lacks a version that another source has listed. What a source that fails
// means is for Fallback to say. Either way the error tells what every source
// answered, and what kept the others from being asked; Terraform and OpenTofu tell the
// answer of one.
//
// Errors are *SourcesError, or the source's own where there is one source only
// and where ErrProtocol says that the package would be of no use.
type MultiSource struct {
	Selectors []Selector // in the order in which they are asked
	Fallback  Fallback
}

// Selector is a source and the providers that it is for. Sources have no rank by
// how precise their patterns are: every one that accepts a provider is asked.
type Selector struct {
	Source     Source
	Include    []Pattern // if there are any, one has to match
	Exclude    []Pattern // none of these may match, whatever is included
	IsRegistry bool      // the source is the provider's origin registry, not a mirror
}

// Versions implements Source: the versions and warnings of all sources that
// are for p. A provider without any version counts as not found. A source that
// was skipped because it failed is named in a warning.
func (m MultiSource) Versions(ctx context.Context, p Provider) (Available, error) {
	var all Available
	var lists []Available
	answers := m.unanswered(p)
	for i, selector := range m.Selectors {
		a := &answers[i]
		if a.Excluded != "" {
			continue
		}
		available, err := selector.Source.Versions(ctx, p)
		a.Asked, a.Versions, a.Err = true, len(available.Versions), err
		if err != nil && m.ends(ctx, err) {
			return Available{}, failure(ctx, m.report(p, answers))
		}
		if err != nil && !lacking(err) {
			available = Available{Warnings: []string{fmt.Sprintf("%s was passed over because it failed: %v", a.Source, err)}}
		}
		all.Versions = append(all.Versions, available.Versions...)
		all.Warnings = append(all.Warnings, available.Warnings...)
		lists = append(lists, available)
	}
	if len(all.Versions) == 0 {
		return Available{}, failure(ctx, m.report(p, answers))
	}
	all.Versions = eachOnce(all.Versions)
	all.Details = detailsIn(lists)
	return all, nil
}

// detailsIn is Details of several lists: what the first one that has the version tells about it, as
// that is where its packages are.
func detailsIn(lists []Available) func(Version) VersionDetails {
	if !slices.ContainsFunc(lists, func(list Available) bool { return list.Details != nil }) {
		return nil
	}
	first := par.OnceValue(func() map[Version]int {
		all := map[Version]int{}
		for i, list := range slices.Backward(lists) {
			for _, v := range list.Versions {
				all[v] = i
			}
		}
		return all
	})
	return func(v Version) VersionDetails {
		i, ok := first()[v]
		if !ok || lists[i].Details == nil {
			return VersionDetails{}
		}
		return lists[i].Details(v)
	}
}

// eachOnce drops all but the first of equal versions.
func eachOnce(versions []Version) []Version {
	seen := make(map[Version]bool, len(versions))
	return slices.DeleteFunc(versions, func(v Version) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// Package implements Source: the package of the first source that has it.
func (m MultiSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	var skipped []error
	answers := m.unanswered(p)
	for i, selector := range m.Selectors {
		a := &answers[i]
		if a.Excluded != "" {
			continue
		}
		found, err := selector.Source.Package(ctx, p, v, plat)
		if err == nil {
			if found.Source == "" { // of a source that others have written
				found.Source = a.Source
			}
			found.Skipped = errors.Join(append(skipped, found.Skipped)...)
			return found, nil
		}
		a.Asked, a.Err = true, err
		if m.ends(ctx, err) {
			break
		}
		if !lacking(err) {
			skipped = append(skipped, fmt.Errorf("%s: %w", a.Source, err))
		}
	}
	failed := m.report(p, answers)
	failed.Version, failed.Platform = v, plat
	return Package{}, failure(ctx, failed)
}

// Describe implements Source: it names the sources that are for p.
func (m MultiSource) Describe(p Provider) string {
	var names []string
	for _, selector := range m.Selectors {
		if m.excluded(selector, p) == "" {
			names = append(names, selector.Source.Describe(p))
		}
	}
	return strings.Join(names, ", ")
}

// Suggest implements Suggester: the first suggestion of a source that is for p.
func (m MultiSource) Suggest(ctx context.Context, p Provider) (Provider, bool) {
	for _, selector := range m.Selectors {
		if m.excluded(selector, p) != "" {
			continue
		}
		if found, ok := SuggestionFor(ctx, selector.Source, p); ok {
			return found, true
		}
	}
	return Provider{}, false
}

// ExplainMissing finds out, by a request if need be, why a source that was asked doesn't have a provider: what it is
// may be no registry. "" if nothing is found. Call it when an installation has failed.
func (m MultiSource) ExplainMissing(ctx context.Context, p Provider) string {
	for _, selector := range m.Selectors {
		if m.excluded(selector, p) != "" {
			continue
		}
		if able, ok := ability[missingExplainer](selector.Source); ok {
			if why := able.explainMissing(ctx, p); why != "" {
				return why
			}
		}
	}
	return ""
}

// missingExplainer is a source that can find out why it doesn't have a provider.
type missingExplainer interface {
	explainMissing(ctx context.Context, p Provider) string
}

// unanswered returns an Answer for each source, before any is asked.
func (m MultiSource) unanswered(p Provider) []Answer {
	answers := make([]Answer, len(m.Selectors))
	for i, selector := range m.Selectors {
		answers[i] = Answer{Source: selector.Source.Describe(p), Excluded: m.excluded(selector, p)}
	}
	return answers
}

func (m MultiSource) report(p Provider, answers []Answer) *SourcesError {
	return &SourcesError{Provider: p, Fallback: m.Fallback, Answers: answers}
}

// Platforms implements PlatformLister: those of the first source that has the
// version, in the order in which Package would ask.
func (m MultiSource) Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	answers := m.unanswered(p)
	for i, selector := range m.Selectors {
		a := &answers[i]
		if a.Excluded != "" {
			continue
		}
		platforms, err := PlatformsOf(ctx, selector.Source, p, v)
		if err == nil {
			return platforms, nil
		}
		a.Asked, a.Err = true, err
		if m.ends(ctx, err) {
			break
		}
	}
	failed := m.report(p, answers)
	failed.Version = v
	return nil, failure(ctx, failed)
}

// SourceURL implements SourceURLer: that of the first source that lists the
// version, in the order in which Package would ask.
func (m MultiSource) SourceURL(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	answers := m.unanswered(p)
	for i, selector := range m.Selectors {
		a := &answers[i]
		if a.Excluded != "" {
			continue
		}
		sourceURL, err := listedSourceURL(ctx, selector.Source, p, v, plat)
		if err == nil {
			return sourceURL, nil
		}
		a.Asked, a.Err = true, err
		if m.ends(ctx, err) {
			break
		}
	}
	failed := m.report(p, answers)
	failed.Version, failed.Platform = v, plat
	return "", failure(ctx, failed)
}

// Fallback says what a MultiSource does where a source doesn't serve.
//
// Whatever it says, a source that answers and lacks what it was asked for is
// no failure: the next one that is for the provider is asked. To keep the next
// one from serving a provider, use patterns, or Exclusive.
type Fallback int

const (
	// StopOnFailure ends a query at the first source that fails: going on
	// would quietly install something else than on a day when it works.
	StopOnFailure Fallback = iota
	// NextOnFailure takes a source that fails for one that lacks what it was
	// asked for, and says so.
	NextOnFailure
	// Exclusive is StopOnFailure, and asks a registry for nothing that any
	// mirror is for, even if no mirror has it.
	Exclusive
)

var fallbackNames = [...]string{StopOnFailure: "stop", NextOnFailure: "next", Exclusive: "exclusive"}

// ParseFallback reads "stop", "next" or "exclusive".
func ParseFallback(given string) (Fallback, error) {
	for f, name := range fallbackNames {
		if given == name {
			return Fallback(f), nil
		}
	}
	return StopOnFailure, fmt.Errorf("invalid fallback %q: must be one of %s", given, strings.Join(fallbackNames[:], ", "))
}

// String returns what ParseFallback reads.
func (f Fallback) String() string {
	if f < 0 || int(f) >= len(fallbackNames) {
		return fmt.Sprintf("Fallback(%d)", int(f))
	}
	return fallbackNames[f]
}

// ends reports whether an error ends a query. A protocol that the product
// doesn't speak does so always: it is a fact about the version, in every source.
func (m MultiSource) ends(ctx context.Context, err error) bool {
	switch {
	case ctx.Err() != nil, errors.Is(err, ErrProtocol):
		return true
	case lacking(err):
		return false
	default:
		return m.Fallback != NextOnFailure
	}
}

// lacking reports whether an error means that a source is fine, but doesn't
// have what it was asked for.
func lacking(err error) bool {
	return errors.Is(err, ErrProviderNotFound) || errors.Is(err, ErrVersionNotFound) || errors.Is(err, ErrPlatformMissing)
}

// excluded says why a source isn't asked for p; "" if it is.
func (m MultiSource) excluded(s Selector, p Provider) string {
	if why := s.excluded(p); why != "" || !s.IsRegistry || m.Fallback != Exclusive {
		return why
	}
	for _, other := range m.Selectors {
		if !other.IsRegistry && other.excluded(p) == "" {
			return "kept out, because mirrors are exclusive and there is one for this provider: " + other.Source.Describe(p)
		}
	}
	return ""
}

// excluded says which patterns of the selector aren't for p; "" if all are.
func (s Selector) excluded(p Provider) string {
	if pattern, excluded := matching(s.Exclude, p); excluded {
		return "excluded by " + quoteAll([]Pattern{pattern})
	}
	if _, included := matching(s.Include, p); !included && len(s.Include) > 0 {
		return "not included by " + quoteAll(s.Include)
	}
	return ""
}

// quotedPatterns is how many patterns a message repeats. Lists that programs
// write may be long.
const quotedPatterns = 10

func quoteAll(patterns []Pattern) string {
	var quoted []string
	for i, pattern := range patterns {
		if i == quotedPatterns {
			quoted = append(quoted, fmt.Sprintf("and %d more", len(patterns)-i))
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", pattern.String()))
	}
	return strings.Join(quoted, ", ")
}
