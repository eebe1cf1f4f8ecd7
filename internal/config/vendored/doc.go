// Package vendored makes installed packages and modules fit to be committed to a git repository, so
// that a clone has all of them.
//
//	changed, err := vendored.Tidy(ctx, ".terraform/modules/net", []string{"."}) // the package of a module
//	files, err := vendored.Files(".", vendored.Places())                        // everything to commit
//
// The layout follows from tests of Terraform: without a provider_installation block in the CLI
// configuration, it looks for providers in terraform.d/plugins of the working directory, and
// accepts archives and directories there; modules are installed only where
// .terraform/modules/modules.json says. So both are vendored in their usual directories:
// configurations don't change, and neither tool needs an option.
//
// # What git would do
//
//  1. .terraform is usually ignored, here or in a parent directory. [Ignores] is a
//     block at the end of the working directory's .gitignore, with marks at its
//     first and last line, that reverses earlier lines and files above for vendored
//     files only: the rest of .terraform stays ignored. It must be the file's last
//     rule; [Block.Merge] moves it there.
//  2. Line ends may be converted. [Attributes] is such a block for .gitattributes
//     that forbids it; with lfs, git LFS keeps the archives.
//  3. git treats a module with .git as a submodule, whose content it doesn't
//     commit. [Tidy] removes .git at any depth, and .hg beside it.
//  4. A .gitignore or .gitattributes in a module outranks those above it. Tidy adds
//     a block at its end, unless it is harmless.
//  5. git doesn't keep empty directories. A module's directory without files gets
//     an empty file named .gitkeep.
//  6. A package that is a symlink to a directory of this machine doesn't work
//     elsewhere. Tidy replaces it with a copy. Symlinks in a package stay; [Outside]
//     finds those that lead out of the vendored directories.
//  7. git commits a vendored directory that is a symlink without its content:
//     [Linked] finds these. Names that differ in case only are the same file on some
//     systems: [Colliding] finds these.
//
// "git clean -fdx" removes no committed files. It removes .terraform/providers, which init creates
// again. Terraform reads terraform.d/plugins in the directory where it is started: with -chdir it
// finds providers only if that directory has one, too. Without a network, its "init -upgrade" and
// "get -update" fail and remove modules, which "git checkout .terraform" restores.
//
// The blocks belong to this package, and the rest of these files to the user. Files with the right
// content aren't touched.
//
// # The record
//
// terraform.d/vendor.json records for which platforms a directory was vendored and how, which
// providers vendor has put there, and the hashes of modules as in package modulelock. Later runs
// use it unless an option says otherwise, and fetch changed modules again. Packages of providers
// that it doesn't list were put there by other means, and are used unchanged.
//
// # What the package refuses to do
//
// It runs no git, fetches nothing, and writes only to the given directories, .gitignore,
// .gitattributes and the record.
package vendored
