// Package modules finds the modules that a configuration calls, fetches the missing ones, and
// records their directories in modules.json, which plan and apply read.
//
//	root, problems := load.LoadModule(".", product)
//	manifest, err := modules.ReadManifest(nil, ".terraform/modules", product)
//	resolver := modules.Resolver{Dir: ".terraform/modules", Product: product, Fetcher: fetcher, Registries: registries}
//	tree, problems := resolver.Resolve(ctx, root, manifest)
//	if !problems.HasErrors() {
//		err = tree.Save()
//	}
//
// A [Tree] has the requirements of all modules, and checks whether their providers fit together.
// [Registries] is the client of registries; package fetch has a [Fetcher]. [ParseAddress] reads a
// source address; [Resolver.Populate] begins a configuration with a copy of a module.
//
// # Which modules are kept
//
//  1. A call keeps its recorded module if the source is unchanged, the recorded
//     version satisfies the call's constraint, and the directory exists. It doesn't
//     matter where the module came from.
//  2. Otherwise a local module, "./" or "../", is recorded again: it is used
//     where it is, never copied. The recorded directory is the path with its
//     symlinks resolved. Any other module is fetched, as a whole package, to a
//     directory named after the key, and replaces what is there. Records of the
//     modules that the former module called are removed.
//  3. Records and directories of calls that no longer exist stay.
//  4. An upgrade keeps no module.
//
// The modules of a level of the tree are found, looked up and fetched concurrently; a package that
// several of them need is fetched once. A path into the package of another call, such as
// "./.terraform/modules/net/sub", is followed after that package has been fetched.
//
// # What modules may reach
//
// The root module, the modules that it calls by a path, and directories of this machine that these
// call may call any module. All other modules are foreign: those from registries, repositories,
// archives and web pages, with all that they call. They can't lead to files of this machine,
// neither by an address nor by a path or a symlink that leaves their package, and neither can a
// registry's answer. A directory of a foreign package that the root module calls by a path is
// foreign, too. A subdirectory must always be in its package, after symlinks are resolved.
//
// # The record
//
// modules.json is written by one rename, only if its content changes, and only if the modules have
// no errors: it never has part of a tree. A package is also published by a rename, after the record
// of the former package is removed. So an interrupted run leaves records of existing modules only,
// and the next run fetches the others; the next run that fetches also removes the stages of killed
// runs. Sources in the record are normalised exactly as in Terraform, because plan compares them
// with those of the configuration.
package modules
