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

// Options say how a module is loaded. The zero value is for any module.
type Options struct {
	// FS is where the directory of the module is, such as an editor's, which has
	// buffers that aren't saved yet; nil: the file system of the process. In an FS
	// the directory's name has slashes, and leads nowhere out of it: "." is its root.
	FS fs.FS

	// TestDirectory is where test files are looked for, relative to the
	// module, beside those in its own directory. "" is "tests", which may be
	// missing; any other that is missing is a warning.
	TestDirectory string

	// NoTests leaves out test files, wherever they are.
	NoTests bool

	// Path is the module's place in the tree of modules, "module.a.module.b".
	// Test files belong to the root module, whose path is "", and so do import
	// and backend blocks: elsewhere they are an error, and ignored with a warning.
	Path string

	// Source is the module's address, as messages have it; "" for the root module.
	Source string

	// Inputs are the values of the module's input variables, as the call has
	// them in [ModuleCall.Inputs], or [ReadInputs] for the root module. nil is
	// nothing known of them: constant variables without a default are unknown,
	// where they would be missing otherwise.
	Inputs Values

	// RootDir is the root module's directory, which expressions know as
	// path.root; "" is the module's own if it is the root module, and else unknown.
	RootDir string

	// WorkingDir is what expressions know as path.cwd; "" is unknown.
	WorkingDir string

	// HomeDir is what "~" stands for in paths of the functions that read files; "" is unknown.
	HomeDir string

	// Within is the directory whose files these functions can read, as for a module
	// that comes from elsewhere; "" is any.
	Within string

	// Workspace is what expressions know as terraform.workspace, in products that evaluate it; "" is unknown.
	Workspace string

	// Called is where a module that isn't the root module is called. Zero is unknown, and what the call leaves out
	// is unknown then, too.
	Called hcl.Range

	// Outlines keeps what large configurations say, so that a later run needn't parse all of them; nil: nothing is kept.
	Outlines   Outlines
	outlineAll bool // of small ones, too

	done func() bool // reports whether to stop; nil: never
}

// Module is what one module directory says that matters for dependencies. Make
// one with [LoadModule]; it isn't changed afterwards.
type Module struct {
	Dir   string // as it was given
	Path  string // "module.a.module.b"; "" is the root module
	Empty bool   // no configuration or test files at all, or no such directory

	RequiredVersions []RequiredVersion // in the order of files; those that can't be parsed are left out
	Calls            []ModuleCall      // module blocks, sorted by name
	TestRuns         []TestRun         // of the root module's test files, in the order of files and blocks
	Tests            []string          // the root module's test files, as the keys of their runs begin: "test.tests.net"
	Backend          *Backend          // nil: neither a backend nor a cloud block

	// Constant reports whether there are constant input variables, so that the
	// values of variables matter here.
	Constant bool

	// Files are the files that were read, under the names that the ranges of
	// diagnostics have, so that source lines can be shown with a problem.
	Files map[string]*hcl.File

	// Options are what it was loaded with.
	Options Options

	// LeftToPlan are the places of arguments, blocks and keywords that only a product which is newer than what
	// is known here can read, and that can't decide what is installed.
	LeftToPlan []hcl.Range

	variables map[string]*static.Variable  // those that it declares
	required  map[string]*requiredProvider // what required_providers says, by local name
	providers []*providerConfig
	configs   map[providerKey]*providerConfig // the same, by name and alias
	users     []*user

	grammar       *grammar
	encryption    *encryption                  // nil: there is none
	scope         *static.Scope                // what encryption may refer to; nil in other modules than the root
	testProviders map[string][]*providerConfig // of test files, by their keys, where they are requirements
}

// Outlines keeps contents under keys from run to run, for one user and one version of this program. It finds nothing that is
// damaged, or that another user can write.
type Outlines interface {
	Get(key string) ([]byte, bool)
	Put(key string, content []byte)
}

// CheckVersion returns a problem for each required_version that the product's
// version doesn't satisfy or that can't be parsed. Prereleases don't count:
// only the three numbers of the product's version are compared, and a
// constraint that names a prerelease is a problem.
//
// Terraform, in a configuration that has such a problem, tells no other.
func (m *Module) CheckVersion() hcl.Diagnostics {
	product := m.grammar.product
	if len(m.RequiredVersions) == 0 {
		return nil
	}
	running, err := version.NewVersion(product.Version)
	if err != nil {
		return hcl.Diagnostics{diagnostic.Error(m.RequiredVersions[0].Range, "Unknown "+product.Name+" version",
			"The configuration needs certain versions of %s, and %q is no version.", product.Name, product.Version)}
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

// subject is who requires a version, as a sentence begins with it.
func (m *Module) subject() string {
	if m.Path == "" {
		return "This configuration"
	}
	return fmt.Sprintf("Module %s (from %s)", m.Path, m.Options.Source)
}

// check returns nil if the version is one of those that are required.
func (r RequiredVersion) check(product dialect.Dialect, running *version.Version, subject string) *hcl.Diagnostic {
	constraints, err := version.NewConstraint(r.Text)
	if err != nil {
		return diagnostic.Error(r.Range, "Invalid version constraint", "%q is no version constraint.", r.Text)
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

// Requirements returns what the module itself asks for, without the modules
// that it calls: the entries of required_providers, the providers that
// provider blocks configure, and those that resources need, whether declared
// or implied by a type. A provider that only resources need is there once,
// with the place of the first.
//
// The errors here are those that Terraform tells only when it comes to providers:
// constraints that the stricter one of two parsers refuses, and legacy
// addresses. What they are about is left out of the requirements.
func (m *Module) Requirements() (getproviders.Requirements, hcl.Diagnostics) {
	return m.require(m.entries(), m.providers, m.users)
}

// require returns what entries of required_providers, provider blocks and resources ask for.
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
		if version != nil { // one on a built-in provider is left for the installer to refuse
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

// provider is what a local name means; false if it is none, which is an error since the module was loaded.
func (m *Module) provider(name string) (getproviders.Provider, bool) {
	provider, err := m.grammar.product.ImpliedProvider(name)
	// The type of the implied provider is the name as it is declared, even if
	// it stands in capitals here.
	if entry := m.required[provider.Type]; err == nil && entry != nil {
		provider = entry.provider
	}
	return provider, err == nil
}

// Inferred is a resource whose provider is known from its type alone.
type Inferred struct {
	Provider getproviders.Provider
	Address  string    // "module.a.aws_instance.x"
	Range    hcl.Range // of the block's header
}

// Inferred returns the resources whose providers nothing but their types tells: there is no entry
// in required_providers for them. The product has to be the one that the module was loaded for.
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

// TestRequirements returns what each of Tests asks for by its provider blocks, if those are
// requirements to the product. The modules of runs aren't looked at. The errors are those
// of [Module.Requirements].
func (m *Module) TestRequirements() (map[string]getproviders.Requirements, hcl.Diagnostics) {
	all := map[string]getproviders.Requirements{}
	var problems hcl.Diagnostics
	for _, test := range m.Tests {
		required, diags := m.require(nil, m.testProviders[test], nil)
		all[test], problems = required, append(problems, diags...)
	}
	return all, problems
}

// entries are what required_providers says, sorted by local name.
func (m *Module) entries() []*requiredProvider {
	return slices.SortedFunc(maps.Values(m.required), func(a, b *requiredProvider) int { return strings.Compare(a.name, b.name) })
}

// declares reports whether required_providers has a configuration.
func (m *Module) declares(k providerKey) bool {
	entry := m.required[k.name]
	return entry != nil && (k.alias == "" || slices.Contains(entry.aliases, k))
}

// configures reports whether there is a provider block that says something.
func (m *Module) configures(k providerKey) bool {
	config := m.configs[k]
	return config != nil && config.configured
}
