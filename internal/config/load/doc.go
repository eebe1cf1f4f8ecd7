// Package load reads what the user wrote, in one module directory, and says
// which providers it requires:
//
//	terraform := getproviders.Terraform("1.15.9")
//	module, problems := load.LoadModule("path/to/module", terraform)
//	if !problems.HasErrors() {
//		required, problems := module.Requirements()
//		...
//	}
//
// For a working directory with all its modules and its state, configs.Read
// does everything in one call. [LoadModuleWith] takes the values of
// variables, which [ReadInputs] gathers, and an fs.FS; [Module.CheckVersion] says
// whether the product's version fits. The modules that a module calls are in
// [Module.Calls], those of test runs in [Module.TestRuns]; package modules finds
// them. [StateRequirements] returns the providers that a state needs.
//
// Files are read once and never written. Problems are diagnostics of HCL, because
// those carry ranges; [Module.Files] has the source to show with them.
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
//  6. In OpenTofu, a file ".tofu" hides the file ".tf" of its name, and so do the
//     kinds in JSON and those of test files. What required_version says in
//     ".tf" files is about Terraform, since OpenTofu 1.12; a language block says it
//     for OpenTofu in any file. Encryption, and the instances of a provider's
//     configuration, are left to a plan.
//
// # What is checked
//
// A configuration that terraform init accepts is accepted, and the mistakes that
// it finds before it asks for providers are found, with the same headline and at
// the same place: syntax, unknown blocks and arguments, duplicates, names,
// references to providers. The body of a resource belongs to its provider and is
// not decoded; what only a plan would find is left to it. [CheckProviders] finds
// what shows only in several modules together. Which arguments and
// blocks there are, in which versions, is the table language.txt; docs/differences.md says where
// this differs from Terraform on purpose.
package load
