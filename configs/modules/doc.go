// Package modules finds the modules that a configuration calls, and keeps the
// record of where they are: modules.json, which plan and apply go by.
//
// [ParseAddress] tells what a source address means: a directory of the
// configuration, a module of a registry, or a package somewhere else.
// [ReadManifest] reads the record of the last run; [Installer.Install] walks
// the tree of modules from the root, and returns it as a [Tree], which knows
// the requirements of the whole. Nothing is written before [Tree.Save].
//
// # What is kept, and what isn't
//
//  1. A call keeps the module that is recorded for it if its source is what it
//     was, the recorded version satisfies the call's constraint, and the
//     directory is there. It doesn't matter where it came from.
//  2. Otherwise a local module, "./" or "../", is recorded anew: it is used
//     where it is, never copied. The directory is that which the path leads to
//     when symlinks are followed. Records of modules that the former module
//     called are forgotten, and what an earlier run had put into the directory
//     of this call is removed.
//  3. Records of calls that aren't there any more stay, and so do their
//     directories.
//  4. An upgrade keeps nothing.
//
// Modules of registries and of other places are used if a record says that
// they are there; this package doesn't fetch them yet, and says so.
//
// # The record
//
// modules.json is written by one rename, only if its content changes, and only
// if nothing is wrong with the modules: it is never half a tree. Sources
// in it are normalised exactly as the real tool does, because plan compares
// them with those of the configuration.
//
// Where we differ from the real tool on purpose: a module that calls itself,
// directly or through others, is an error instead of a tree without end; a
// subdirectory may not be "..", however it is written; all of a tree's problems are
// told at once, in the order of the tree; where a module is for other versions
// of the engine, that is told alone for the whole tree.
package modules
