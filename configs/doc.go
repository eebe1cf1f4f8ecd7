// Package configs reads what the user wrote, in one module directory, and says
// which providers it requires.
//
// [LoadModule] reads the configuration files of a directory, [Module.CheckVersion]
// tells whether this product may be used for them, and [Module.Requirements]
// what they need. [StateRequirements] adds the providers that only a state
// still knows. All of it is values in, values out: files are read once, in
// LoadModule, and nothing is ever written. Which modules a module calls is in
// [Module.Calls], those of test runs in [Module.TestRuns]; package modules goes
// there. [ReadInputs] gathers the values that the user has for variables.
//
// # What counts
//
//  1. A module is the files of one directory that have one of the product's
//     suffixes, and no name as editors give to their own files. Files called
//     override, or something that ends in _override, change what the others
//     declare. A directory with test files only isn't empty.
//  2. Required are: every entry of required_providers, used or not; the
//     provider of every resource, data, ephemeral and action block, in check
//     blocks, too; that of every import block for a resource of this module
//     that has no block yet; and every provider that a provider block
//     configures, with the deprecated version argument as one more constraint.
//  3. Not required is what only a moved or removed block, a provider-defined
//     function, a provider_meta block, or a test file mentions.
//  4. Test files are those of the root module and of its test directory, one
//     level deep. Of them, only the modules count that runs have of their own,
//     whose source has to be literal.
//  5. A local name that required_providers doesn't explain means a provider in
//     the namespace "hashicorp", or the built-in one. Override files count
//     before that is decided.
//
// # What is computed
//
// Source and version of a module may refer to local values and to variables
// whose block has const = true, the source to path.module, path.root and
// path.cwd as well. A constant variable has a value as soon as the module is
// loaded: from [ReadInputs] in the root module, and elsewhere from the call, as
// far as that depends on nothing but the same. A variable that isn't constant
// must not be referred to, and what depends on one, or on a resource, is
// unknown. Sensitive and ephemeral values are refused, because sources are shown
// and recorded; no problem tells a value. Conditions of variables aren't checked
// here.
//
// Computing takes time and memory in proportion to the files: every value is
// computed once, none may have more than 64 KiB, loops are refused, and of
// functions there are those on text, numbers and lists whose results are bounded.
//
// In OpenTofu every variable may be referred to, in the block of a backend, too:
// [Backend] comes with what its expressions mean. A variable has a value when it
// is asked for, so that one which decides nothing may be wrong.
//
// # What OpenTofu reads
//
// A file ".tofu" hides the file ".tf" of its name, and so do the kinds in JSON and
// those of test files. What required_version says in ".tf" files is about
// Terraform, since OpenTofu 1.12; a language block says it for OpenTofu in any
// file. Encryption, and the instances of a provider's configuration, are left to a plan.
//
// # What is checked
//
// The aim is that a configuration which the real terraform init accepts is
// accepted, and that the mistakes which it finds before it asks for providers
// are found, with the same headline and at the same place: syntax, unknown
// blocks and arguments, duplicates, names, references to providers. The body
// of a resource belongs to its provider and is not decoded; what only a plan
// would find is left to it, such as the arguments of a lifecycle block.
// [CheckProviders] does the same for what can be told only of several modules:
// whether the provider configurations that calls pass are those that modules want.
// Whether a configuration that is referred to exists is found by a plan.
//
// Where we differ from the real tool on purpose: problems come in the order of
// files and positions, each once, all with their place; of several entries for
// one provider the first by name counts as the right one, and of several empty
// blocks for one the first is told. Files in which
// expressions stand inside one another more than ten thousand levels deep, or
// version constraints that would take loops to compute, are errors instead of
// crashes. In a run's module block, a version that is null means any. The data
// of mock providers, and addresses in test files beyond their syntax, are left
// to the tests. Values for variables are read and checked only where a variable
// is constant.
//
// Diagnostics are those of HCL, because they carry ranges. [Module.Files] has
// the source to show with them.
package configs
