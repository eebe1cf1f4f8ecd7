package configs

import "github.com/tfdeps/tfdeps/getproviders"

// InheritState returns what a state requires, with the providers of the
// registry of the engine's predecessor replaced by those of the same names in the
// engine's own: whoever wrote them meant the default. Those that the
// configuration requires as they are stay.
func InheritState(fromState, fromConfig getproviders.Requirements, engine getproviders.Engine) getproviders.Requirements {
	if engine.Predecessor == nil {
		return fromState
	}
	required := getproviders.Requirements{}
	for p, requirements := range fromState {
		if _, named := fromConfig[p]; !named && p.Hostname == engine.Predecessor.DefaultHost {
			p.Hostname = engine.DefaultHost
		}
		required[p] = append(required[p], requirements...)
	}
	return required
}
