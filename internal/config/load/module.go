package load

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Options say how a module is loaded. The zero value works for any module.
type Options struct {
	// FS has the module's directory, such as an editor's file system with unsaved buffers; nil
	// means the file system of the process. In an FS the directory's name has slashes and stays
	// inside: "." is the root.
	FS fs.FS

	// TestDirectory is the directory with test files, relative to the module; the module's own
	// directory may have test files, too. "" means "tests", which may be missing; another missing
	// directory is a warning.
	TestDirectory string

	// NoTests leaves out all test files.
	NoTests bool

	// Path is the module's place in the tree of modules, "module.a.module.b"; "" for the root
	// module. Only the root module has test files, import and backend blocks: in other modules
	// import blocks are an error, and backend blocks are ignored with a warning.
	Path string

	// Source is the module's address for messages; "" for the root module.
	Source string

	// Inputs are the values of the module's input variables, from [ModuleCall.Inputs], or
	// [ReadInputs] for the root module. nil means that no value is known: constant variables
	// without a default are unknown then, not missing.
	Inputs Values

	// RootDir is the root module's directory, path.root in expressions; "" means the module's own
	// for the root module, and unknown for others.
	RootDir string

	// WorkingDir is path.cwd in expressions; "" means unknown.
	WorkingDir string

	// HomeDir replaces "~" in paths of the functions that read files; "" means unknown.
	HomeDir string

	// Within is the directory whose files these functions, and symlinks to files of the configuration, can reach, for a
	// foreign module; "" means any.
	Within string

	// Workspace is terraform.workspace in expressions, in products that evaluate it; "" means unknown.
	Workspace string

	// Called is the position of the call, for a module that isn't the root module. Zero means unknown: inputs that
	// the call leaves out are unknown then, too.
	Called hcl.Range

	// Outlines caches outlines of large configurations, so that a later run needn't parse all of them; nil means no
	// cache.
	Outlines   Outlines
	outlineAll bool // small configurations, too

	done func() bool // reports whether to stop; nil means never
}

// Module is the content of one module directory, as far as it matters for dependencies. Make one
// with [LoadModule]; it isn't changed afterwards.
type Module struct {
	Dir   string // as it was given
	Path  string // "module.a.module.b"; "" is the root module
	Empty bool   // it has no configuration or test files, or the directory doesn't exist

	RequiredVersions []RequiredVersion // in the order of files, without those that can't be parsed
	Calls            []ModuleCall      // module blocks, sorted by name
	TestRuns         []TestRun         // of the root module's test files, in the order of files and blocks
	Tests            []string          // the root module's test files, as prefixes of their runs' keys: "test.tests.net"
	Backend          *Backend          // nil without a backend or cloud block

	// Files are the files that were read, under the names in the ranges of diagnostics, for showing
	// source lines with a problem.
	Files map[string]*hcl.File

	// Options are those that the module was loaded with.
	Options Options

	// LeftToPlan has the ranges of arguments, blocks and keywords that only a newer product can know, and that
	// don't decide what is installed.
	LeftToPlan []hcl.Range

	variables map[string]*static.Variable  // declared variables
	required  map[string]*requiredProvider // entries of required_providers by local name
	providers []*providerConfig
	configs   map[providerKey]*providerConfig // providers by name and alias
	users     []*user

	grammar       *grammar
	encryption    *encryption                  // nil without encryption blocks
	scope         *static.Scope                // for references of encryption blocks; nil except in the root module
	testProviders map[string][]*providerConfig // of test files by key, in products in which these are requirements
}

// Outlines is a cache that lasts from run to run, for one user and one version of this program. It never returns content
// that is damaged, or that another user could have written.
type Outlines interface {
	Get(key string) ([]byte, bool)
	Put(key string, content []byte)
}

// CheckVersion returns a problem for each required_version that the product's version doesn't
// satisfy, or that can't be parsed. It compares only the three numbers of the product's version,
// not its prerelease, and a constraint that names a prerelease is a problem.
//
// If a configuration has such a problem, Terraform reports no other.
func (m *Module) CheckVersion() hcl.Diagnostics {
	product := m.grammar.product
	if len(m.RequiredVersions) == 0 {
		return nil
	}
	running, err := version.NewVersion(product.Version)
	if err != nil {
		return hcl.Diagnostics{diagnostic.Error(m.RequiredVersions[0].Range, "Unknown "+product.Name+" version",
			"The configuration needs certain versions of %s, and %q is not a version.", product.Name, product.Version)}
	}
	var diags hcl.Diagnostics
	for _, required := range m.RequiredVersions {
		if diag := required.check(product, running.Core(), m.subject()); diag != nil {
			diags = append(diags, diag)
		}
	}
	return diags
}

// DeclaresVariable reports whether the module has an input variable of that name.
func (m *Module) DeclaresVariable(name string) bool { return m.variables[name] != nil }

// HasProviderBlock reports whether the module configures a provider.
func (m *Module) HasProviderBlock() bool { return len(m.providers) > 0 }

// HasResources reports whether the module has blocks of resources of any kind, such as data.
func (m *Module) HasResources() bool { return len(m.users) > 0 }

// subject returns the module's name for the beginning of a sentence.
func (m *Module) subject() string {
	if m.Path == "" {
		return "This configuration"
	}
	return fmt.Sprintf("Module %s (from %s)", m.Path, m.Options.Source)
}

// check returns nil if the version satisfies the constraint.
func (r RequiredVersion) check(product dialect.Dialect, running *version.Version, subject string) *hcl.Diagnostic {
	constraints, err := version.NewConstraint(r.Text)
	if err != nil {
		return diagnostic.Error(r.Range, "Invalid version constraint", "%q is not a version constraint.", r.Text)
	}
	for _, constraint := range constraints {
		if constraint.Prerelease() {
			return diagnostic.Error(r.Range, "Invalid required_version constraint",
				"Take the prerelease out of %q: prereleases of %s count as the release that they precede.", constraint, product.Name)
		}
	}
	if constraints.Check(running) {
		return nil
	}
	summary := "Unsupported " + product.Name + " Core version"
	if product.Understands("language") {
		summary = "Incompatible module"
	}
	return diagnostic.Coded("required_version", diagnostic.Error(r.Range, summary,
		"%s does not support %s version %s: it requires %s. Use a version that is supported, or change the constraint if it is out of date.",
		subject, product.Name, product.Version, r.Text))
}

// Requirements returns the requirements of the module itself, without the modules that it calls:
// the entries of required_providers, the providers that provider blocks configure, and those that
// resources need, explicitly or by their type. A provider that only resources need is returned
// once, with the position of the first.
//
// The errors are those that Terraform reports only when it installs providers: constraints that the
// strict one of two parsers refuses, and legacy addresses. The requirements leave these out.
func (m *Module) Requirements() (getproviders.Requirements, hcl.Diagnostics) {
	return m.require(m.entries(), m.providers, m.users)
}

// require returns the requirements of entries of required_providers, provider blocks and resources.
func (m *Module) require(entries []*requiredProvider, configs []*providerConfig, users []*user) (getproviders.Requirements, hcl.Diagnostics) {
	reqs, found := getproviders.Requirements{}, reporter{}
	add := func(provider getproviders.Provider, version *RequiredVersion, at hcl.Range) {
		req := getproviders.Requirement{Pos: getproviders.Pos{Module: m.Path, File: at.Filename, Line: at.Start.Line, Column: at.Start.Column}}
		if provider.IsLegacy() {
			found.report(diagnostic.Coded("invalid_address", diagnostic.Error(at, "Invalid legacy provider address",
				"The address %q is from before providers had namespaces. Write the source of the provider %q in full, or complete the upgrade to Terraform 0.13 first.",
				provider, provider.Type)))
			return
		}
		if version != nil { // the installer refuses a constraint on a built-in provider
			var err error
			if req.Constraints, err = getproviders.ParseConstraints(version.Text); err != nil {
				found.error(version.Range, "Invalid version constraint", "Incorrect version constraint syntax: %v.", err)
				return
			}
		}
		reqs.Add(provider, req)
	}
	for _, entry := range entries {
		add(entry.provider, entry.version, entry.entry)
	}
	for _, config := range configs {
		if provider, ok := m.provider(config.name); ok && (config.version != nil || reqs[provider] == nil) {
			add(provider, config.version, config.header)
		}
	}
	for _, u := range users {
		if provider, ok := m.provider(u.localName()); ok && reqs[provider] == nil {
			add(provider, nil, u.needed)
		}
	}
	diagnostic.Sort(found.diags)
	return reqs, found.diags
}

// provider returns the provider of a local name; false for an invalid name, which loading has reported.
func (m *Module) provider(name string) (getproviders.Provider, bool) {
	provider, err := m.grammar.product.ImpliedProvider(name)
	// Names of entries are in lower case, even if the name here has capitals.
	if entry := m.required[provider.Type]; err == nil && entry != nil {
		provider = entry.provider
	}
	return provider, err == nil
}

// Inferred is a resource whose provider follows from its type alone.
type Inferred struct {
	Provider getproviders.Provider
	Address  string    // "module.a.aws_instance.x"
	Range    hcl.Range // of the block's header
}

// Inferred returns the resources whose provider follows from their type alone: required_providers
// has no entry for it. The product must be the one that the module was loaded for.
func (m *Module) Inferred() (all []Inferred) {
	for _, u := range m.users {
		provider, err := m.grammar.product.ImpliedProvider(u.localName())
		if u.provider != nil || err != nil || m.required[provider.Type] != nil {
			continue
		}
		address := u.key.typ + "." + u.key.name
		if u.key.block != "resource" {
			address = u.key.block + "." + address
		}
		if m.Path != "" {
			address = m.Path + "." + address
		}
		all = append(all, Inferred{Provider: provider, Address: address, Range: u.needed})
	}
	return all
}

// HasEntryFor reports whether required_providers has an entry for a provider.
func (m *Module) HasEntryFor(p getproviders.Provider) bool {
	return slices.ContainsFunc(m.entries(), func(entry *requiredProvider) bool { return entry.provider == p })
}

// TestRequirements returns the requirements of the provider blocks of each of Tests, in products in
// which those are requirements. It doesn't read the modules of runs. The errors are those of
// [Module.Requirements].
func (m *Module) TestRequirements() (map[string]getproviders.Requirements, hcl.Diagnostics) {
	all := map[string]getproviders.Requirements{}
	var problems hcl.Diagnostics
	for _, test := range m.Tests {
		required, diags := m.require(nil, m.testProviders[test], nil)
		all[test], problems = required, append(problems, diags...)
	}
	return all, problems
}

// entries returns the entries of required_providers, sorted by local name.
func (m *Module) entries() []*requiredProvider {
	return slices.SortedFunc(maps.Values(m.required), func(a, b *requiredProvider) int { return strings.Compare(a.name, b.name) })
}

// declares reports whether required_providers declares a configuration.
func (m *Module) declares(k providerKey) bool {
	entry := m.required[k.name]
	return entry != nil && (k.alias == "" || slices.Contains(entry.aliases, k))
}

// configures reports whether the module has a non-empty provider block.
func (m *Module) configures(k providerKey) bool {
	config := m.configs[k]
	return config != nil && config.configured
}
