package configs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// builder puts the files of a module together.
type builder struct {
	module  *Module
	product getproviders.Product
	rules   map[string]rule

	seen       map[key]hcl.Range // everything declared
	required   map[string]*requiredProvider
	requiredAt hcl.Range // the required_providers block; zero: none yet
	providers  map[key]*providerConfig
	users      map[key]*user
	calls      map[string]*callBlock
	scope      *scope
	imports    []*importTarget
	state      stateBlocks

	diags hcl.Diagnostics
	late  hcl.Diagnostics // told only if the files themselves have no errors
}

func newBuilder(dir string, product getproviders.Product, opts Options) *builder {
	return &builder{
		module:    &Module{Dir: dir, Path: opts.Path, source: opts.Source, Files: map[string]*hcl.File{}},
		product:   product,
		rules:     topLevel(product),
		seen:      map[key]hcl.Range{},
		required:  map[string]*requiredProvider{},
		providers: map[key]*providerConfig{},
		users:     map[key]*user{},
		calls:     map[string]*callBlock{},
		scope:     newScope(dir, product, opts),
	}
}

func (b *builder) report(diags ...*hcl.Diagnostic) { b.diags = append(b.diags, diags...) }

// add takes over what a primary file declares. Of duplicates, the first stays.
func (b *builder) add(d *document) {
	for _, declared := range d.declared {
		if first, ok := b.seen[declared.key]; ok {
			b.report(duplicate(declared, first))
			continue
		}
		b.seen[declared.key] = declared.rng
	}
	b.module.RequiredVersions = append(b.module.RequiredVersions, d.versions...)
	for _, required := range d.required {
		b.addRequired(required)
	}
	b.addBackends(d.backends)
	for _, config := range d.providers {
		b.addProvider(config)
	}
	for _, u := range d.users {
		b.addUser(u)
	}
	for _, call := range d.calls {
		if _, ok := b.calls[call.Name]; !ok {
			b.calls[call.Name] = call
		}
	}
	b.imports = append(b.imports, d.imports...)
	b.scope.add(d)
}

// addRequired takes over a required_providers block; there can be only one.
func (b *builder) addRequired(required requiredBlock) {
	if b.requiredAt != (hcl.Range{}) {
		b.report(Problem(required.header, "Duplicate required providers configuration",
			"A module has only one required_providers block; there is one already at %s.", b.requiredAt))
		return
	}
	b.requiredAt = required.header
	for _, entry := range required.entries {
		b.required[entry.name] = entry
	}
}

func (b *builder) addProvider(config *providerConfig) {
	k := key{"provider", config.name, config.alias}
	if _, ok := b.providers[k]; !ok {
		b.providers[k] = config
		b.module.providers = append(b.module.providers, config)
	}
}

func (b *builder) addUser(u *user) {
	if _, ok := b.users[u.key]; !ok {
		b.users[u.key] = u
		b.module.users = append(b.module.users, u)
	}
}

// finish does what can be done only when all files are known.
func (b *builder) finish() {
	b.module.required = slices.SortedFunc(maps.Values(b.required), byName)
	b.resolveCalls()
	b.module.Backend = b.state.effective()
	b.resolveBackend()
	b.checkChild()
	b.resolveImports()
	b.checkUsers()
	b.checkLocalNames()
	if !b.diags.HasErrors() {
		b.report(b.late...)
	}
}
