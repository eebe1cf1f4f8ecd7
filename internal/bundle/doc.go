// Package bundle writes files of a directory into one tar archive, and unpacks them on another
// machine, either all or none.
//
//	manifest, err := bundle.Write(ctx, file, ".", []bundle.Entry{{Path: ".terraform.lock.hcl"}})
//	// on the other machine:
//	manifest, err := bundle.Unpack(ctx, file, bundle.Options{Dir: ".", Unit: unit, Accept: compare})
//
// # The format
//
// The first entry is "tfdeps-bundle.json", the manifest. It has a format version and the path of
// each other entry; for files also the size, the SHA-256 and whether the file is executable, for
// symlinks the target. The other entries follow in the order of the manifest, sorted by the bytes
// of their names. Entries have no owner and no time; their modes are 0644, 0755 and, for symlinks,
// 0777. So the same files make the same archive, byte for byte. Directories have no entries, as
// there are no empty ones.
//
// # What is refused
//
//  1. A manifest that isn't the first entry, has an unknown format, or is larger than 64 MiB.
//  2. A path that is absolute, leads out of the directory, has a backslash, a colon
//     or a control character, contains a ".git", or isn't where the caller expects
//     files; two paths that differ only in case; a path below a file or a symlink.
//  3. A symlink that is absolute or whose target isn't in the archive. Targets go
//     up first and then down, so that no symlink is followed on the way up.
//  4. An entry that differs from the next one of the manifest in name, type, size or
//     content; a sparse file; missing or further entries; anything but zeros behind the end.
//  5. A destination below a symlink or a file of the directory.
//  6. More than a million entries, 64 GiB in total, more bytes than the archive has, or
//     more than are free on the disk. This is known before a byte is written.
//
// # Guarantees
//
// [Unpack] writes to a temporary directory on the same file system until everything has been
// verified. Then it renames units, files or whole directories as the caller defines them, into
// place in the caller's order. If a rename fails, the earlier ones are undone. If the process is
// killed meanwhile, each unit is either the old or the new one, except that a directory that was
// just being replaced may be missing.
//
// The manifest describes the archive, but doesn't authenticate it: an attacker who can change one
// can change the other. The reader has to verify the content by something trusted, such as a lock
// file: [Options].Accept may compare it before anything is replaced.
package bundle
