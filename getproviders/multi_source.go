package getproviders

import (
	"context"
	"fmt"
	"strings"
)

// MultiSource asks several sources in order: mirrors before registries, say.
//
// A source that answers, but lacks the provider, the version or the platform,
// lets the next one answer; the real tools give up where a network mirror
// lacks a version that another source has listed. A source that fails ends the
// query, because going on would quietly install something else than on a day
// when it works. Either way the error tells what every source answered; the
// real tools tell it of one.
//
// Errors are *SourcesError, or the source's own where there is one source only
// and where ErrProtocol says that the package would be of no use.
type MultiSource []Selector

// Selector is a source and the providers that it is for. Sources have no rank by
// how precise their patterns are: every one that accepts a provider is asked.
type Selector struct {
	Source  Source
	Include []Pattern // if there are any, one has to match
	Exclude []Pattern // none of these may match, whatever is included
}

// keptOut says why the source isn't asked for p; "" if it is.
func (s Selector) keptOut(p Provider) string {
	if pattern, excluded := matching(s.Exclude, p); excluded {
		return "excluded by " + quote(pattern)
	}
	if _, included := matching(s.Include, p); !included && len(s.Include) > 0 {
		return "not included by " + strings.Join(quoteAll(s.Include), ", ")
	}
	return ""
}

func (s Selector) accepts(p Provider) bool { return s.keptOut(p) == "" }

func quote(pattern Pattern) string { return fmt.Sprintf("%q", pattern.String()) }

func quoteAll(patterns []Pattern) []string {
	quoted := make([]string, len(patterns))
	for i, pattern := range patterns {
		quoted[i] = quote(pattern)
	}
	return quoted
}

// Versions implements Source: the versions and warnings of all sources that
// are for p. A provider without any version counts as not found.
func (m MultiSource) Versions(ctx context.Context, p Provider) (Available, error) {
	var all Available
	seen := make(map[Version]bool)
	answers := m.unanswered(p)
	for i, selector := range m {
		if answers[i].KeptOut != "" {
			continue
		}
		available, err := selector.Source.Versions(ctx, p)
		answers[i].Asked, answers[i].Versions, answers[i].Err = true, len(available.Versions), err
		if err != nil && !lacking(err) {
			return Available{}, failure(ctx, &SourcesError{Provider: p, Answers: answers})
		}
		for _, v := range available.Versions {
			if !seen[v] {
				seen[v] = true
				all.Versions = append(all.Versions, v)
			}
		}
		all.Warnings = append(all.Warnings, available.Warnings...)
	}
	if len(all.Versions) == 0 {
		return Available{}, failure(ctx, &SourcesError{Provider: p, Answers: answers})
	}
	return all, nil
}

// Package implements Source: the package of the first source that has it.
func (m MultiSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	answers := m.unanswered(p)
	for i, selector := range m {
		if answers[i].KeptOut != "" {
			continue
		}
		found, err := selector.Source.Package(ctx, p, v, plat)
		if err == nil {
			return found, nil
		}
		answers[i].Asked, answers[i].Err = true, err
		if !lacking(err) {
			break
		}
	}
	return Package{}, failure(ctx, &SourcesError{Provider: p, Version: v, Platform: plat, Answers: answers})
}

// Describe implements Source: it names the sources that are for p.
func (m MultiSource) Describe(p Provider) string {
	var names []string
	for _, selector := range m {
		if selector.accepts(p) {
			names = append(names, selector.Source.Describe(p))
		}
	}
	return strings.Join(names, ", ")
}

// Suggest implements Suggester: the first suggestion of a source that is for p.
func (m MultiSource) Suggest(ctx context.Context, p Provider) (Provider, bool) {
	for _, selector := range m {
		suggester, ok := selector.Source.(Suggester)
		if !ok || !selector.accepts(p) {
			continue
		}
		if found, ok := suggester.Suggest(ctx, p); ok {
			return found, true
		}
	}
	return Provider{}, false
}

// unanswered returns an Answer for each source, with nobody asked yet.
func (m MultiSource) unanswered(p Provider) []Answer {
	answers := make([]Answer, len(m))
	for i, selector := range m {
		answers[i] = Answer{Source: selector.Source.Describe(p), KeptOut: selector.keptOut(p)}
	}
	return answers
}
