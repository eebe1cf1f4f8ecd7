// Package bundle puts files of a directory into one tar archive, and takes them
// out again on another machine, all of them or none.
//
//	manifest, err := bundle.Write(ctx, file, ".", []bundle.Entry{{Path: ".terraform.lock.hcl"}})
//	// on the other machine:
//	manifest, err := bundle.Unpack(ctx, file, bundle.Options{Dir: ".", Unit: unit, Accept: compare})
//
// # The format
//
// The first entry is "tfdeps-bundle.json", the manifest: it has a format version,
// and for every other entry its path, and either the size, the SHA-256 and
// whether it is executable, or, of a symlink, where it leads to. The others
// follow in the order of the manifest, that of their names' bytes. No user owns
// them, they have no time, and their modes are 0644, 0755 and for links 0777. So the
// same files have the same archive, byte for byte. Directories have no entries:
// there are none without files.
//
// # What is refused
//
//  1. A manifest that isn't first, of an unknown format, or larger than 64 MiB.
//  2. A path that is absolute, leads out of the directory, has a backslash, a colon
//     or a control character, names a ".git", or isn't where the caller expects
//     files; two paths that are the same where case doesn't matter; one below
//     another that is a file or a link.
//  3. A link that is absolute or whose target isn't in the archive. Targets lead
//     up first and then down, so that no link is followed on the way up.
//  4. An entry that isn't the next one of the manifest, by its name, its kind and
//     its size, or whose content isn't; too few or too many of them; anything but
//     zeros behind the end.
//  5. A place that is reached by a link, or through a file, in the directory.
//  6. More than a million entries, or 64 GiB in all.
//
// # Guarantees
//
// [Unpack] writes to a directory of its own, on the same file system, until all
// has been verified. Then it puts units, files or whole directories as the caller
// defines them, into their places by renames, in the caller's order. If one of
// these fails, those before are taken back. If the process is killed meanwhile,
// each unit is the old or the new one, but that a directory may be missing that
// was just about to be replaced.
//
// The manifest says what the archive should hold, not who made it: an attacker who can
// change the one can change the other. What is in a bundle is to be verified
// by what the reader trusts, such as a lock file: [Options].Accept may compare it
// before anything is replaced.
package bundle
