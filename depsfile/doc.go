// Package depsfile is the dependency lock file as a value: which version of
// each provider a working directory has selected, under which constraints,
// and by which hashes its packages are known again.
//
//	locks, problems := depsfile.Load(depsfile.FileName, getproviders.Terraform("1.15.9"))
//	for _, lock := range locks.All() {
//		fmt.Println(lock.Provider, lock.Version, lock.Hashes)
//	}
//
// [Load] or [Decode] make a [Locks] out of the file, [Locks.Set] and
// [Locks.Remove] change it, [Locks.Encode] and [Locks.Save] write it. The text
// is byte for byte what Terraform and OpenTofu write, so that a diff doesn't show
// which program ran.
//
// # Reading
//
// The file is strict: it belongs to programs, and everything in it has exactly
// one spelling. Another spelling of an address, a version or a constraint is an
// error that tells the right one. All problems of a file are reported at once,
// with Terraform's and OpenTofu's headlines; they carry positions.
//
// Hashes of schemes that this program doesn't know are kept, since a newer
// program may have written them: Extend keeps them as long as the entry's version stays, Set drops them. Locks for
// modules, which no program writes yet, are passed over with a warning.
//
// # Writing
//
// Save replaces the file by one rename, after one fsync, and doesn't touch a
// file that already has the very bytes: editors and file watchers look at it.
// Whether there is something to write at all is for [Locks.Equal] to say. It
// leaves constraints out, as Terraform and OpenTofu do: a change of constraints alone
// doesn't rewrite the file, so that comments in it live until a real change.
//
// # Where it differs from Terraform and OpenTofu
//
//   - Where the file is a symlink to a regular file of the same repository (or, without
//     one, of the same directory) that the user owns and that
//     is a lock file itself, Save writes that one. If the symlink leads to a file
//     elsewhere, Save returns an error. Terraform and OpenTofu put a regular
//     file in the symlink's place, which is what happens here in all other
//     cases (and on Windows, where nothing says who owns a file).
//   - What a merge conflict left behind is reported as such, and alone.
//   - A value that can't be read is one error; Terraform and OpenTofu follow it up with
//     another one on its spelling.
//   - A file whose brackets are nested without end is refused unparsed.
//
// # What it refuses to do
//
// It doesn't choose versions, doesn't compute hashes, and knows nothing of
// the packages on disk.
package depsfile
