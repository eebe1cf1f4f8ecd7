// Package modulelock is the lock file for modules as a value: which source,
// version or commit, and which tree of files each module call has been given.
// Terraform and OpenTofu have no such file, and ignore it.
//
//	locks, problems := modulelock.Load(modulelock.FileName)
//	hash, err := modulelock.HashTree(ctx, ".terraform/modules/net")
//
// [Load] or [Decode] make a [Locks] out of the file, [Locks.Check] compares it
// with what is installed, [Locks.Updated] brings it up to date, [Locks.Encode]
// and [Locks.Save] write it. [HashTree] computes the hash of an installed
// package.
//
// # The file
//
// There is a block for each call whose module isn't a local one, sorted by key:
// the names of the calls from the root, joined by dots, as in modules.json.
//
//	module "net.dns" {
//	  source  = "registry.example.com/acme/dns/cloud"
//	  version = "1.2.0"
//	  hash    = "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ="
//	}
//
// A module of a registry has a version, one from a git repository has a commit
// instead of it or beside it, and all have a hash. Modules that are called by a
// path are in the package of the module that calls them, or in the root module's own
// directory, and need no lock.
//
// The file is meant to be committed, so a source stands in it without what may
// be a secret: without the user and password of a URL, and with the
// query values "ref", "depth", "archive" and "checksum" only. Two sources that
// differ in nothing else are the same; the hash tells whether their content is.
//
// # The hash of a tree
//
// It is the h1 of the package's directory, Go's directory hash: the SHA-256, in
// base64, of a list like that of sha256sum, sorted by name, with
// slashes in the names. A file has a line with the SHA-256 of its content; a
// symlink has one with the SHA-256 of its target's text, with slashes, and
// its name begins with a slash there, which no file's does.
//
// Modes, times and empty directories don't count. What is named ".git" or
// ".hg" directly in the package is left out, and so are files named ".git"
// elsewhere, which is how git marks submodules. All else counts, whatever its
// name. So the same tree has the same hash on every system. (A checkout that
// changes line ends, or that writes symlinks as files, isn't the same tree.)
//
// # What it refuses to do
//
// It doesn't fetch, doesn't choose, and doesn't say what is to be done about a
// module that changed.
package modulelock
