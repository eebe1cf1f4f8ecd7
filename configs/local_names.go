package configs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// checkLocalName reports a local name that no provider can have.
func (d *document) checkLocalName(name string, at hcl.Range) bool {
	normal, err := getproviders.NormalizePart(name)
	switch {
	case err != nil:
		d.report(Problem(at, "Invalid provider local name", "%q can't be the local name of a provider: %v.", name, err))
	case normal != name:
		d.report(Problem(at, "Invalid provider local name", "Write %q as it is used everywhere, %q.", name, normal))
	}
	return err == nil && normal == name
}

// checkLocalNames warns of providers that go by two local names in the module: a
// configuration under one of them is not found under the other.
func (b *builder) checkLocalNames() {
	const summary = "Duplicate required provider"
	first := map[getproviders.Provider]*requiredProvider{}
	for _, entry := range b.module.required {
		if other, ok := first[entry.provider]; ok {
			b.late = append(b.late, Warning(entry.value, summary,
				"The provider %s is required as %q, too. It should have one local name.", b.product.Short(entry.provider), other.name))
			continue
		}
		first[entry.provider] = entry
	}
	for _, config := range b.module.providers {
		if entry := b.otherName(config.name, first); entry != nil {
			b.late = append(b.late, Warning(entry.value, summary,
				"The provider %s is required as %q, and a provider block at %s implies it as %q.",
				b.product.Short(entry.provider), entry.name, config.header, config.name))
		}
	}
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if entry := b.otherName(u.localName(), first); entry != nil {
			b.late = append(b.late, Warning(u.needed, summary,
				"The type %q implies the provider %s as %q, but it is required as %q. Use the implied name there, or write provider = %s here.",
				u.key.typ, b.product.Short(entry.provider), u.localName(), entry.name, entry.name))
		}
	}
}

// otherName returns the entry for the provider that a local name implies, if
// that has another local name; nil if there is none.
func (b *builder) otherName(name string, entries map[getproviders.Provider]*requiredProvider) *requiredProvider {
	if _, ok := b.required[name]; ok {
		return nil
	}
	implied, err := b.product.ImpliedProvider(name)
	if err != nil {
		return nil
	}
	return entries[implied]
}

// checkUsers reports types that can't be any provider's.
func (b *builder) checkUsers() {
	for _, u := range b.module.users {
		if u.provider != nil {
			continue
		}
		if _, err := getproviders.NormalizePart(u.localName()); err != nil {
			b.late = append(b.late, Problem(u.needed, "Invalid provider local name",
				"The type %q implies the local name %q, which no provider can have: %v.", u.key.typ, u.localName(), err))
		}
	}
}
