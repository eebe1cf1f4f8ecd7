// Package depsfile reads and writes the dependency lock file: for each provider of a working
// directory the selected version, its constraints, and the hashes of its packages.
//
//	locks, problems := depsfile.Load(depsfile.FileName, getproviders.Terraform("1.15.9"))
//	for _, lock := range locks.All() {
//		fmt.Println(lock.Provider, lock.Version, lock.Hashes)
//	}
//
// [Load] and [Decode] read the file into a [Locks], [Locks.Set] and [Locks.Remove]
// change it, [Locks.Encode] and [Locks.Save] write it. The text is byte for byte what
// Terraform and OpenTofu write, so that a diff doesn't show which program ran.
//
// # Reading
//
// The format is strict, because only programs write it: every address, version and constraint has
// exactly one spelling. Any other spelling is an error that names the right one. All problems of a
// file are reported at once, with Terraform's and OpenTofu's headlines and with positions.
//
// Hashes of unknown schemes may come from a newer program: Extend keeps them as long as the entry's version
// stays, Set drops them. Locks for modules, which no program writes yet, are kept unread, with a warning.
//
// # Writing
//
// Save replaces the file by one rename, after one fsync. It doesn't touch a file that already has the
// same bytes, because editors and file watchers notice writes. [Locks.Equal] tells whether there is
// anything to write. It ignores constraints, as Terraform and OpenTofu do: a change of constraints
// alone doesn't rewrite the file, so comments in it live until a real change.
//
// # Where it differs from Terraform and OpenTofu
//
//   - If the file is a symlink to another lock file of the same repository (or, outside of repositories,
//     of the same directory), which is a regular file and belongs to the user, Save writes that one.
//     If the symlink leads to a file elsewhere, Save returns an error. In all other cases (and on
//     Windows, where Go doesn't tell the owner of a file) Save replaces the symlink by a regular
//     file, as Terraform and OpenTofu always do.
//   - Conflict markers of a merge are reported as such, and nothing else is.
//   - A value that can't be read is one error; Terraform and OpenTofu add a second one about
//     its spelling.
//   - A file whose brackets are nested too deeply is rejected before it is parsed.
//
// # What it refuses to do
//
// It doesn't choose versions, doesn't compute hashes, and knows nothing of
// the packages on disk.
package depsfile
