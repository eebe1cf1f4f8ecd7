package configs

import (
	"github.com/tfdeps/tfdeps/getproviders"
)

// checkNames warns of providers that go by two local names in the module: a
// configuration under one of them is not found under the other.
func (b *builder) checkNames() {
	const summary = "Duplicate required provider"
	first := map[getproviders.Provider]*requiredProvider{}
	for _, entry := range b.module.required {
		if other, ok := first[entry.provider]; ok {
			b.late = append(b.late, warning(entry.value, summary,
				"The provider %s is required as %q, too. It should have one local name.", b.engine.Short(entry.provider), other.name))
			continue
		}
		first[entry.provider] = entry
	}
	for _, config := range b.module.providers {
		if entry := b.otherName(config.name, first); entry != nil {
			b.late = append(b.late, warning(entry.value, summary,
				"The provider %s is required as %q, and a provider block at %s implies it as %q.",
				b.engine.Short(entry.provider), entry.name, config.header, config.name))
		}
	}
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if entry := b.otherName(u.localName(), first); entry != nil {
			b.late = append(b.late, warning(u.needed, summary,
				"The type %q implies the provider %s as %q, but it is required as %q. Use the implied name there, or write provider = %s here.",
				u.key.typ, b.engine.Short(entry.provider), u.localName(), entry.name, entry.name))
		}
	}
}

// otherName returns the entry for the provider that a local name implies, if
// that has another local name; nil if there is none.
func (b *builder) otherName(name string, entries map[getproviders.Provider]*requiredProvider) *requiredProvider {
	if _, ok := b.required[name]; ok {
		return nil
	}
	implied, err := b.engine.ImpliedProvider(name)
	if err != nil {
		return nil
	}
	return entries[implied]
}
