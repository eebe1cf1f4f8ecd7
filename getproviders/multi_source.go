package getproviders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MultiSource asks several sources in order, such as mirrors before registries.
//
// If a source answers that it lacks the provider, the version or the platform, the next one is
// asked; Terraform and OpenTofu give up if a network mirror lacks a version that another source
// lists. Fallback sets what happens if a source fails. The error has every source's
// answer, and why others weren't asked; Terraform and OpenTofu report one answer.
//
// Errors are *SourcesError. They are the source's own error if MultiSource has one source, and if
// the error is ErrProtocol, because no source's package would help.
type MultiSource struct {
	Selectors []Selector // in the order in which they are asked
	Fallback  Fallback
}

// Selector is a source and the providers that it is for. More precise patterns don't go first:
// every source that accepts a provider is asked, in order.
type Selector struct {
	Source     Source
	Include    []Pattern // one must match; empty matches all
	Exclude    []Pattern // none may match; it outranks Include
	IsRegistry bool      // the source is the provider's origin registry, not a mirror
}

// Versions implements Source: it returns the versions and warnings of all sources that are for p. A
// provider without any version is an ErrProviderNotFound. A source that was skipped because it
// failed is named in PassedOver.
func (m MultiSource) Versions(ctx context.Context, p Provider) (Available, error) {
	var all Available
	seen := map[Version]bool{}
	query := m.query(p, Version{}, Platform{})
	for i, selector := range m.Selectors {
		a := &query.answers[i]
		if a.excluded != "" {
			continue
		}
		available, err := selector.Source.Versions(ctx, p)
		a.asked, a.versions, a.err = true, len(available.Versions), err
		if err != nil && m.ends(ctx, err) {
			return Available{}, failure(ctx, query)
		}
		if err != nil && !lacking(err) {
			available = Available{PassedOver: []string{fmt.Sprintf("%s was passed over because it failed: %v", a.source, err)}}
		}
		all.Warnings = append(all.Warnings, available.Warnings...)
		all.PassedOver = append(all.PassedOver, available.PassedOver...)
		for _, v := range available.Versions { // the details are those of the first source with the version, because its packages are used
			if seen[v] {
				continue
			}
			seen[v], all.Versions = true, append(all.Versions, v)
			if listed, ok := available.Details[v]; ok {
				if all.Details == nil {
					all.Details = map[Version]Listed{}
				}
				all.Details[v] = listed
			}
		}
	}
	if len(all.Versions) == 0 {
		return Available{}, failure(ctx, query)
	}
	return all, nil
}

// Package implements Source: it returns the package of the first source that has it.
func (m MultiSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (found Package, err error) {
	var skipped []error
	err = m.first(ctx, m.query(p, v, plat), func(source Source, name string) (err error) {
		if found, err = source.Package(ctx, p, v, plat); err != nil {
			found = Package{}
			if !lacking(err) {
				skipped = append(skipped, fmt.Errorf("%s: %w", name, err))
			}
			return err
		}
		found.Source = cmp.Or(found.Source, name) // other implementations of Source may leave it empty
		found.Skipped = errors.Join(append(skipped, found.Skipped)...)
		return nil
	})
	return found, err
}

// Describe implements Source. The name lists the sources whose selectors accept p. Platforms and SourceURL
// answer with the first source that lists the version, in the order of Package; Suggest and
// ExplainMissing with the first source that has an answer. A version is ruled out if all sources whose
// selectors accept p rule it out.
func (m MultiSource) Describe(p Provider) Description {
	all := Description{SourceURL: m.sourceURL, Platforms: m.platforms, RulesOut: m.rulesOut, Suggest: m.suggest, ExplainMissing: m.explainMissing}
	var names []string
	for _, one := range m.descriptions(p) {
		names, all.Unasked = append(names, one.Name), append(all.Unasked, one.Unasked...)
	}
	all.Name = strings.Join(names, ", ")
	return all
}

// descriptions returns those of the sources that are for p.
func (m MultiSource) descriptions(p Provider) (all []Description) {
	for _, selector := range m.Selectors {
		if m.excluded(selector, p) == "" {
			all = append(all, selector.Source.Describe(p))
		}
	}
	return all
}

func (m MultiSource) suggest(ctx context.Context, p Provider) (Provider, bool) {
	for _, one := range m.descriptions(p) {
		if one.Suggest != nil {
			if found, ok := one.Suggest(ctx, p); ok {
				return found, true
			}
		}
	}
	return Provider{}, false
}

func (m MultiSource) explainMissing(ctx context.Context, p Provider) (why string) {
	for _, one := range m.descriptions(p) {
		if why == "" && one.ExplainMissing != nil {
			why = one.ExplainMissing(ctx, p)
		}
	}
	return why
}

func (m MultiSource) platforms(ctx context.Context, p Provider, v Version) (found []Platform, err error) {
	err = m.first(ctx, m.query(p, v, Platform{}), func(source Source, _ string) (err error) {
		if able := source.Describe(p); able.Platforms != nil {
			found, err = able.Platforms(ctx, p, v)
		}
		return err
	})
	return found, err
}

// sourceURL asks a source without SourceURL for its versions: if it lists the version, the package
// would come from there, and the result is "".
func (m MultiSource) sourceURL(ctx context.Context, p Provider, v Version, plat Platform) (found string, err error) {
	err = m.first(ctx, m.query(p, v, plat), func(source Source, name string) (err error) {
		if able := source.Describe(p); able.SourceURL != nil {
			found, err = able.SourceURL(ctx, p, v, plat)
			return err
		}
		available, err := source.Versions(ctx, p)
		if err == nil && !slices.Contains(available.Versions, v) {
			err = available.lacks(ctx, Subject{Source: name, Provider: p, Version: v})
		}
		return err
	})
	return found, err
}

// rulesOut returns nil at the first source that may have the version. Sources before it that fail
// without a request end the query, as they would end that of Package.
func (m MultiSource) rulesOut(ctx context.Context, p Provider, v Version) error {
	return m.first(ctx, m.query(p, v, Platform{}), func(source Source, _ string) error {
		able := source.Describe(p)
		if able.RulesOut == nil {
			return nil
		}
		return able.RulesOut(ctx, p, v)
	})
}

// query returns an error with an empty answer for each source.
func (m MultiSource) query(p Provider, v Version, plat Platform) *SourcesError {
	answers := make([]answer, len(m.Selectors))
	for i, selector := range m.Selectors {
		answers[i] = answer{source: selector.Source.Describe(p).Name, excluded: m.excluded(selector, p)}
	}
	return &SourcesError{provider: p, version: v, platform: plat, fallback: m.Fallback, answers: answers}
}

// first asks the sources of a query in order, until one succeeds or fails with an error that ends
// the query.
func (m MultiSource) first(ctx context.Context, query *SourcesError, ask func(source Source, name string) error) error {
	for i, selector := range m.Selectors {
		a := &query.answers[i]
		if a.excluded != "" {
			continue
		}
		if a.asked, a.err = true, ask(selector.Source, a.source); a.err == nil {
			return nil
		}
		if m.ends(ctx, a.err) {
			break
		}
	}
	return failure(ctx, query)
}

// ends reports whether an error ends a query. A protocol that the product doesn't speak always
// does: every source has the same version.
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

// excluded returns why a source isn't asked for p, or "" if it is.
func (m MultiSource) excluded(s Selector, p Provider) string {
	if why := s.excluded(p); why != "" || !s.IsRegistry || m.Fallback != Exclusive {
		return why
	}
	for _, other := range m.Selectors {
		if !other.IsRegistry && other.excluded(p) == "" {
			return "kept out, because mirrors are exclusive and there is one for this provider: " + other.Source.Describe(p).Name
		}
	}
	return ""
}

// excluded returns which patterns of the selector reject p, or "" if none does.
func (s Selector) excluded(p Provider) string {
	if pattern, excluded := matching(s.Exclude, p); excluded {
		return "excluded by " + quoteAll([]Pattern{pattern})
	}
	if _, included := matching(s.Include, p); !included && len(s.Include) > 0 {
		return "not included by " + quoteAll(s.Include)
	}
	return ""
}

func quoteAll(patterns []Pattern) string {
	return joined(patterns, quoted, func(p Pattern) string { return fmt.Sprintf("%q", p.String()) })
}
