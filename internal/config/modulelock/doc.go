// Package modulelock is the lock file for modules as a value: the source, the version or commit,
// and the tree of files of each module call. Terraform and OpenTofu have no such file, and ignore
// it.
//
//	locks, problems := modulelock.Load(modulelock.FileName)
//	hash, err := modulelock.HashTree(ctx, ".terraform/modules/net")
//
// [Load] or [Decode] read the file as [Locks], [Locks.Check] compares it with the installed
// modules, [Locks.Updated] updates it, [Locks.Encode] and [Locks.Save] write it. [HashTree]
// computes the hash of an installed package.
//
// # The file
//
// The file has a block for each call whose module isn't local, sorted by key: the names of the
// calls from the root, joined by dots, as in modules.json.
//
//	module "net.dns" {
//	  source  = "registry.example.com/acme/dns/cloud"
//	  version = "1.2.0"
//	  hash    = "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ="
//	}
//
// A module of a registry has a version, one from a git repository has a commit in its place or in
// addition, and all have a hash. Modules that are called by a path are in the package of their
// caller, or in the root module's directory, and need no lock.
//
// The file is meant to be committed, so sources are written without possible secrets: without the
// user and password of a URL, and with only the query parameters "ref", "depth", "archive" and
// "checksum". Two sources that differ only in the rest are equal; the hash tells whether their
// content is.
//
// # The hash of a tree
//
// It is the h1 of the package's directory, Go's directory hash: the SHA-256, in base64, of a list
// like that of sha256sum, sorted by name, with slashes in the names. A file has a line with the
// SHA-256 of its content; a symlink has one with the SHA-256 of its target's text, with slashes,
// and its name begins with a slash, unlike a file's.
//
// Modes, times and empty directories are ignored, and so are entries named ".git" or ".hg" directly
// in the package, and files named ".git" elsewhere, by which git marks submodules. Everything else
// counts, whatever its name. So the same tree has the same hash on every system. (A checkout that
// converts line ends, or writes symlinks as files, isn't the same tree.)
//
// # What it refuses to do
//
// It doesn't fetch, doesn't choose versions, and doesn't decide what to do about a changed module.
package modulelock
