// Package load reads the configuration in one module directory, and returns which providers it
// requires:
//
//	terraform := getproviders.Terraform("1.15.9")
//	module, problems := load.LoadModule("path/to/module", terraform)
//	if !problems.HasErrors() {
//		required, problems := module.Requirements()
//		...
//	}
//
// For a working directory with all its modules and its state, configs.Read does everything in one
// call. [LoadModuleWith] takes the values of variables, which [ReadInputs] collects, and an fs.FS;
// [Module.CheckVersion] says whether the module allows the product's version. The modules that a
// module calls are in [Module.Calls], those of test runs in [Module.TestRuns]; package modules
// finds them. [StateRequirements] returns the providers that a state needs.
//
// Files are read once and never written. Problems are HCL diagnostics, because those have ranges;
// [Module.Files] has the source to show with them.
//
// # What is read
//
//  1. A module consists of the files of one directory that have one of the product's
//     suffixes, except editors' own files. Files called override, or ending in
//     _override, change the declarations of the others. A directory with test files
//     only isn't empty.
//  2. Required are: every entry of required_providers, used or not; the
//     provider of every resource, data, ephemeral and action block, also in check
//     blocks; that of every import block for a resource of this module without a
//     block; and every provider that a provider block configures, with the
//     deprecated version argument as an additional constraint.
//  3. Providers that only a moved or removed block, a provider-defined
//     function, a provider_meta block, or a test file mentions aren't required.
//  4. Test files are those of the root module and of its test directory, one
//     level deep. Only the modules of their runs are installed, whose source must
//     be literal.
//  5. A local name without an entry in required_providers means a provider in
//     the namespace "hashicorp", or the built-in one. Override files are applied
//     before that.
//  6. In OpenTofu, a file ".tofu" hides the file ".tf" of its name, also in JSON
//     and for test files. Since OpenTofu 1.12, required_version in ".tf" files
//     constrains Terraform; a language block constrains OpenTofu in any file.
//     Encryption, and the instances of a provider's configuration, are left to plan.
//
// # What is checked
//
// A configuration that terraform init accepts is accepted, and the mistakes that it reports before
// it looks for providers are reported, with the same headline and at the same place: syntax,
// unknown blocks and arguments, duplicates, names, references to providers. The body of a resource
// belongs to its provider and isn't decoded; mistakes that only plan reports are left to it.
// [CheckProviders] finds problems between modules. The table language.txt has the arguments and
// blocks with their versions; docs/differences.md lists intended differences from Terraform.
package load
