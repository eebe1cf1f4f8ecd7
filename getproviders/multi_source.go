package getproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MultiSource asks several sources in order: mirrors before registries, say.
//
// A source that answers, but lacks the provider, the version or the platform,
// lets the next one answer; the real tools give up where a network mirror
// lacks a version that another source has listed. What a source that fails
// means is for Fallback to say. Either way the error tells what every source
// answered, and what kept the others from being asked; the real tools tell the
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
// was passed over because it failed is told of in a warning.
func (m MultiSource) Versions(ctx context.Context, p Provider) (Available, error) {
	var all Available
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
	}
	if len(all.Versions) == 0 {
		return Available{}, failure(ctx, m.report(p, answers))
	}
	all.Versions = eachOnce(all.Versions)
	return all, nil
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
	var passedOver []error
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
			found.Skipped = errors.Join(append(passedOver, found.Skipped)...)
			return found, nil
		}
		a.Asked, a.Err = true, err
		if m.ends(ctx, err) {
			break
		}
		if !lacking(err) {
			passedOver = append(passedOver, fmt.Errorf("%s: %w", a.Source, err))
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

// unanswered returns an Answer for each source, with nobody asked yet.
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
