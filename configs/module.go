package configs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

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

	source    string              // of the module, as its caller has it
	required  []*requiredProvider // what required_providers says, sorted by local name
	providers []*providerConfig
	users     []*user
}

// RequiredVersion is one required_version argument.
type RequiredVersion struct {
	Text  string    // the constraints as they were written
	Range hcl.Range // of the whole argument
}

// Backend is a backend or cloud block. Its body is not decoded here: package
// backend knows the types.
type Backend struct {
	Type  string    // "cloud" for a cloud block
	Range hcl.Range // of the block's header
	Body  hcl.Body  // of expressions that are cheap to evaluate; nil: it has others, which was reported

	// Context is what the expressions may refer to, in products that evaluate
	// variables there; nil: nothing.
	Context *hcl.EvalContext
}

// requiredProvider is an entry of a required_providers block.
type requiredProvider struct {
	name     string // the local name
	provider getproviders.Provider
	version  *versionConstraint // nil: any
	aliases  []providerKey      // that a caller has to pass
	value    hcl.Range          // right of the equals sign
	entry    hcl.Range
}

// providerConfig is a provider block.
type providerConfig struct {
	providerKey
	version    *versionConstraint // nil: any
	configured bool               // whether there is anything in the block
	header     hcl.Range
}

// providerKey identifies a configuration of a provider in a module.
type providerKey struct {
	name  string // the local name
	alias string // "" is the default configuration
}

// user is a resource, or what else needs a provider because of its type.
type user struct {
	key      key
	provider *providerRef // nil: the type tells
	needed   hcl.Range    // header of the block that says so
}

// providerRef is a reference to the configuration of a provider, such as the
// value of a "provider" argument.
type providerRef struct {
	providerKey
	at   hcl.Range // of the name
	attr hcl.Range // of the argument whose value it is; zero: it stands in a map
}

// versionConstraint has passed the lenient one of two parsers.
type versionConstraint struct {
	text string
	attr hcl.Range
}
