// Package modules finds the modules that a configuration calls, fetches those
// that aren't there, and keeps the record of where they are: modules.json,
// which plan and apply go by.
//
//	root, problems := load.LoadModule(".", product)
//	manifest, err := modules.ReadManifest(nil, ".terraform/modules", product)
//	resolver := modules.Resolver{Dir: ".terraform/modules", Product: product, Fetcher: fetcher, Registries: registries}
//	tree, problems := resolver.Resolve(ctx, root, manifest)
//	if !problems.HasErrors() {
//		err = tree.Save()
//	}
//
// The [Tree] knows the requirements of all modules, and whether their providers
// fit together. [Registries] asks registries; package fetch has a [Fetcher].
// [ParseAddress] reads a source address; [Resolver.Populate] begins a
// configuration with a copy of a module.
//
// # What is kept, and what isn't
//
//  1. A call keeps the module that is recorded for it if its source is what it
//     was, the recorded version satisfies the call's constraint, and the
//     directory is there. It doesn't matter where it came from.
//  2. Otherwise a local module, "./" or "../", is recorded again: it is used
//     where it is, never copied. The directory is that which the path leads to
//     when symlinks are followed. Any other is fetched, as a whole package, to a
//     directory of its own with the name of the key, and takes the place of
//     what is there. Records of modules that the former module called are
//     forgotten.
//  3. Records of calls that aren't there any more stay, and so do their
//     directories.
//  4. An upgrade keeps nothing.
//
// The modules of a level of the tree are found, asked for and fetched at once;
// a package that several of them need is fetched once.
//
// # What modules may reach
//
// The root module, the modules that it calls by a path, and directories of this machine
// that these call may call whatever they like. All other modules are foreign: those from
// registries, repositories, archives and pages, with all that they call. They can't lead
// to files of this machine, be it by an address or by a path or a symlink that leaves
// their package, and neither can what a registry answers. A subdirectory is in its
// package always, also when symlinks are followed.
//
// # The record
//
// modules.json is written by one rename, only if its content changes, and only
// if nothing is wrong with the modules: it is never half a tree. A package
// is put into its place by a rename as well, after the record of what was there
// has been withdrawn. So a run that is interrupted leaves a record of modules
// that are there, and the next one fetches the others; the first that fetches
// anything removes what a killed run was making. Sources in the record
// are normalised exactly as Terraform does, because plan compares them with
// those of the configuration.
package modules
