// Package vendored makes what is installed for a configuration fit to be
// committed to a git repository, so that a clone has all of it.
//
//	changed, err := vendored.Tidy(ctx, ".terraform/modules/net", []string{"."}) // the package of a module
//	files, err := vendored.Files(".", vendored.Places())                        // all that is to be committed
//
// The arrangement, found by trying Terraform: it looks for providers in
// terraform.d/plugins of the working directory by itself, as long as the CLI
// configuration has no provider_installation block, and takes archives and
// directories there; modules are installed where .terraform/modules/modules.json
// says, and nowhere else. So the two are vendored where they are, no
// configuration is rewritten, and neither tool needs an option for it.
//
// # What git would do
//
//  1. .terraform is usually ignored, here or in a directory above. [Ignores] is a
//     block at the end of the working directory's .gitignore, marked by its first
//     and last line, that takes back what earlier lines and files above say of
//     vendored files, and of nothing else: the rest of .terraform stays ignored. It
//     has to be the last that the file says; [Block.Merge] moves it there.
//  2. Line ends may be converted. [Attributes] is such a block for .gitattributes
//     that forbids it; where it is asked for, it has archives kept by git LFS.
//  3. A .git in a module makes git take the module for a submodule, of which it
//     keeps nothing. [Tidy] removes it, at any depth, like .hg beside it.
//  4. A .gitignore or .gitattributes in a module counts more than those above it.
//     Tidy leaves the file alone if it does no harm. Else it puts a block at its end.
//  5. A directory without files isn't kept. It matters only where a module is in
//     it, which then gets an empty file named .gitkeep.
//  6. A package that is a link to a directory of this machine isn't there elsewhere.
//     Tidy puts a copy in its place. Links in a package stay; [Outside] finds those
//     that lead out of what is vendored.
//  7. A place that is a link is kept as one, without what it leads to: [Linked]
//     finds that. Names that differ in case alone are one on some systems:
//     [Colliding] finds these.
//
// "git clean -fdx" removes none of what is vendored and committed, and
// .terraform/providers, which init makes again. Terraform reads
// terraform.d/plugins where it is started: with -chdir it finds it only if the
// directory that it is started from has one, too. Where it has no network, its "init
// -upgrade" and "get -update" fail and take modules away, which "git checkout
// .terraform" brings back.
//
// What stands in these blocks belongs to this package, and all else to the user.
// A file that says everything already isn't touched.
//
// # The record
//
// terraform.d/vendor.json says for which platforms a directory has been vendored
// and in which way, which providers vendor has put there, and what the modules
// are, by the hash of package modulelock. Later runs go by it where no option says
// otherwise, and fetch modules again that were changed. Packages of providers of
// which it says nothing were placed there by other means, and are taken as they are.
//
// # What the package refuses to do
//
// It runs no git, fetches nothing, and writes to no file outside of the
// directories that it is given but .gitignore, .gitattributes and the record.
package vendored
