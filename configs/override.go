package configs

// override changes what the primary files declare. Arguments that an override
// file leaves out stay as they are, with one exception: an entry of
// required_providers is replaced as a whole.
func (b *builder) override(d *document) {
	for _, declared := range d.declared {
		if _, ok := b.seen[declared.key]; ok {
			continue
		}
		if diag := missing(declared); diag != nil {
			b.report(diag)
		}
	}
	if d.versions != nil {
		b.module.RequiredVersions = d.versions
	}
	for _, required := range d.required {
		for _, entry := range required.entries {
			b.required[entry.name] = entry
		}
	}
	b.overrideBackends(d.backends)
	for _, config := range d.providers {
		b.overrideProvider(config)
	}
	for _, u := range d.users {
		if base, ok := b.users[u.key]; ok && u.provider != nil && overridable(u.key.block) {
			base.provider, base.needed = u.provider, u.needed
		}
	}
	b.scope.override(d)
	for _, call := range d.calls {
		if base, ok := b.calls[call.Name]; ok {
			base.override(call)
		}
	}
}

// overridable reports whether blocks of a kind are merged at all; blocks of
// the younger kinds do nothing in an override file.
func overridable(block string) bool { return block == "resource" || block == "data" }

// overrideProvider changes the version of a configuration, or adds a default
// configuration. A block that two files have in common counts as empty in the
// real tool, unless there is a version.
func (b *builder) overrideProvider(config *providerConfig) {
	base, ok := b.providers[key{"provider", config.name, config.alias}]
	switch {
	case !ok && config.alias == "":
		b.addProvider(config)
	case ok:
		if config.version != nil {
			base.version = config.version
		}
		base.configured = base.version != nil
	}
}
