package sources

import (
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/spelling"
	"github.com/tfdeps/tfdeps/providercache"
)

// Wanted is what a run knows of providers when some of them turn out not to exist.
type Wanted struct {
	Required getproviders.Requirements
	Locks    []*depsfile.Locks
	Cache    *providercache.Store // nil: none

	// MirrorsHint is the hint for a provider that the mirrors of -mirror don't have.
	MirrorsHint string
}

// OnlyMirrors is the MirrorsHint of commands for which the mirrors of -mirror replace all other sources.
const OnlyMirrors = "the mirrors of -mirror or TFDEPS_MIRROR are the only sources"

// ExplainMissing adds hints to errors about providers that a registry or the mirrors of -mirror don't have, and returns what
// further explains an error.
func (s *Session) ExplainMissing(err error, w Wanted) explain.Wanted {
	s.addMissingHints(err, w)

	return explain.Wanted{
		Required: w.Required,
		Suggest:  func(p getproviders.Provider) (explain.Suggestion, bool) { return s.suggest(w.Required, p) },
	}
}

func (s *Session) addMissingHints(err error, w Wanted) {
	var all []*getproviders.Fault
	for _, part := range getproviders.SplitErrors(err) {
		missing := getproviders.FaultOf(part, getproviders.ErrProviderNotFound)
		switch {
		case missing == nil || missing.Hint != "":
		case missing.Registry:
			all = append(all, missing)
		case len(s.Mirrors) > 0:
			missing.Hint = w.MirrorsHint
		}
	}
	if len(all) == 0 {
		return
	}

	known := s.knownProviders(w, all)
	for _, missing := range all {
		missing.Hint = s.Source.Describe(missing.Provider).ExplainMissing(s.Meta.Context, missing.Provider)

		meant := spelling.Closest(s.Short(missing.Provider), known)
		if meant != "" && missing.Hint == "" {
			missing.Hint = fmt.Sprintf("did you mean %s?", meant)
		}
	}
}

// knownProviders returns the addresses of the providers in the configuration, the lock files and the shared cache,
// without the missing ones.
func (s *Session) knownProviders(w Wanted, missing []*getproviders.Fault) (known []string) {
	all := w.Required.Providers()
	for _, locks := range w.Locks {
		for _, lock := range locks.All() {
			all = append(all, lock.Provider)
		}
	}

	if w.Cache != nil {
		packages, _ := s.Maintenance(w.Cache).List()
		for _, p := range packages {
			all = append(all, p.Provider)
		}
	}

	for _, p := range all {
		isMissing := slices.ContainsFunc(missing, func(m *getproviders.Fault) bool { return m.Provider == p })
		if !isMissing {
			known = append(known, s.Short(p))
		}
	}

	return known
}

// suggest returns the address that was probably meant by one that doesn't exist: another
// required provider of the same type, else one that the registry suggests.
func (s *Session) suggest(required getproviders.Requirements, p getproviders.Provider) (explain.Suggestion, bool) {
	meant, ok := getproviders.Provider{}, false
	for _, other := range required.Providers() {
		if other.Type == p.Type && other != p && !ok {
			meant, ok = other, true
		}
	}

	if !ok {
		meant, ok = s.Source.Describe(p).Suggest(s.Meta.Context, p)
	}
	if !ok {
		return explain.Suggestion{}, false
	}

	available, err := s.Source.Versions(s.Meta.Context, meant)
	if err != nil {
		return explain.Suggestion{Provider: meant}, true // if the provider is required, its error is reported elsewhere
	}

	return explain.Suggestion{Provider: meant, Versions: available.Versions}, true
}
