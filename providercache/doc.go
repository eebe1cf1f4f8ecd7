// Package providercache installs provider packages: it puts bytes on disk,
// and only those that are what a source, its signatures and the lock file say
// they should be.
//
// An installation looks around and then goes through four phases, each of
// which hands a value to the next:
//
//	look       what the target directory holds of what the lock file names
//	resolve    a version for each provider; asks the source for what isn't settled
//	plan       which packages are present and which have to be fetched
//	carry out  fetch, authenticate, unpack, publish; many providers at once
//	conclude   the new locks, or all errors
//
// # What is guaranteed
//
// A package appears in the target directory by one rename, when all of it has
// been unpacked, authenticated and compared with the lock file. A reader never
// sees half a package, and nothing is ever written into one that is there: a
// directory that differs is exchanged for the new one, a link in its place is
// replaced and not followed. Until then a package is in a private directory
// (".tfdeps-...", mode 0700) inside the target directory, so that the rename
// stays on one file system; the real tools ignore that name. It is removed
// when the work on the package ends, however it ends. What a killed process
// left behind is removed by the next one that fetches into the same directory.
//
// All providers are attempted and all problems are returned, in the order of
// providers. Packages that arrived in spite of others' problems stay, as they
// are whole and the next run may need them; locks are returned only if there
// was no problem.
//
// When the context ends, every method returns within moments, with errors that
// match the context's, and without a trace of unfinished packages.
//
// Many goroutines and many processes may install into one directory at the
// same time: no lock is needed for that to be correct, because the rename
// decides, and whoever comes second uses the other's package only if it has
// the hash that it verified itself. Two runs may well do the same work twice.
// This holds on file systems where rename is atomic.
//
// # The order of checks
//
// A package is judged as soon as its digests are known and before it is
// published. The SHA-256 of an archive is known when its last byte has
// arrived, so an archive that was swapped for a web page is reported as having
// the wrong checksum, which says more than that it is no archive. Where a
// judgement needs the hash of the files inside (a lock entry with h1 alone, a
// mirror that gives no other), it waits for that.
//
// By then the archive has been unpacked already: entries are inflated as they
// arrive, because inflating takes longer than all the rest and can hide behind
// the network. So bytes that nobody has vouched for yet do reach the unpacker.
// What they can do there is bounded: they are written to the private directory
// only, through a handle that can't leave it, with no mode that lets anybody
// run them, and no more of them than the limits allow. What was unpacked on
// the way counts only if the archive's directory, which comes last, lists the
// very entries that were found, with the same names, places, sizes and
// checksums. An archive that reads differently from its two ends, or can't be
// read from its beginning, is unpacked again by its directory, under the rules
// of unpack.go.
//
// A package's hash is computed from the very bytes that were written, while
// they were written. Archives from a local directory are copied into the
// private directory as if they were downloaded: a file that somebody may
// change between two reads is not read twice.
//
// # What is refused
//
// The package never chooses a version that the constraints and the locks
// don't allow, never prints and holds no credentials. It reads no environment,
// but that Hashes works in the system's directory for temporary files. What an
// archive may contain is listed in unpack.go.
//
// # Differences from the real tools
//
// They are on purpose. A provider whose locked version is present and genuine
// costs no request; theirs ask for its versions each time. A directory that
// exists is exchanged as a whole; theirs unpack over it, so that stray files
// survive and get into the lock file. The hash of an archive leaves out its
// directory entries, because a directory's hash does; a lock file that counts
// them is accepted too. Archives with links, absolute names or duplicates are
// refused, where they ignore, bend or overwrite. Files don't get set-user-ID
// bits from an archive. Copies of unpacked packages (where links aren't
// possible) include files whose names start with a dot, so that they have the
// hash of what they copy.
package providercache
