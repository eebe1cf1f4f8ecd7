// Package providercache installs provider packages: it puts bytes on disk,
// and only those that are what a source, its signatures and the lock file say
// they should be.
//
// An installation looks around between four phases, each of which hands a value
// to the next:
//
//	resolve    a version for each provider; asks the source for what isn't settled
//	look       what the target directory and the cache hold of these versions
//	plan       which packages are present, which are in the cache, which have to be fetched
//	carry out  fetch, authenticate, unpack, publish, link; many providers at once
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
// left behind is removed by the next one that installs into the same directory,
// or by way of the same cache, if there is anything to do or not.
//
// Nothing is synced to the disk, because that would take longer than all the rest:
// what a loss of power has torn is found by its hash, and fetched again. Whoever
// writes the locks does so when the packages are in their places, and syncs that
// file, as package depsfile does: it is what everything is compared with.
//
// All providers are attempted and all problems are returned, in the order of
// providers. Packages that arrived in spite of others' problems stay, as they
// are whole and the next run may need them; locks are returned only if there
// was no problem.
//
// A download that breaks off, or stalls, is resumed with what is missing, as long
// as that brings bytes, ten times at most: the server is asked for the rest on
// condition that the archive is still the same, by its ETag or its date. What it
// sends instead, if it can't or won't, is taken from the beginning, once. In a run
// that fails even so, or is killed, what has arrived of an archive whose checksum
// is known beforehand stays in the Cache, in "partial/" and its checksum, for the
// user alone, locked while somebody works on it, for a day. The next run hashes
// and unpacks that and asks for the rest. However an archive was put together, it
// is judged as a whole; if it has the wrong checksum, it is fetched once in one
// piece before that is said. Nothing is kept where there is no Cache, or no lock
// that ends with its process (on Windows).
//
// When the context ends, every method returns within moments, with errors that
// match the context's, and without a trace of unfinished packages, but for what
// can be resumed.
//
// Many goroutines and many processes may install into one directory at the
// same time: no lock is needed for that to be correct, because the rename
// decides, and whoever comes second uses the other's package only if it has
// the hash that it verified itself. Two runs may well do the same work twice.
// This holds on file systems where rename is atomic.
//
// # The cache
//
// Working directories may share packages by a [Cache]. What holds for the
// target directory holds for it: packages are staged on its file system and
// appear by one rename. While a package is fetched into the cache or its files
// are given further names, a lock on this one package is held, so that of many
// runs one fetches it; where locks don't work, that is all that is lost.
// Nobody waits for what is there. Before a package appears in the cache its
// receipt is written, which vouches for nothing until the package is in its place:
// if the process is killed between the two, or after, the next one has to hash the
// package, and not to fetch it. A package for which the cache's disk has no
// room is the target's alone.
//
// A package of the cache is used if the lock file records one of its hashes, or
// if it has none and the package came from the source that it would come from
// now. One that isn't what its own receipt says is damaged, and exchanged. One
// that is sound, or can't be judged, and isn't what the lock file wants stays:
// the target directory gets a package of its own, as a mirror's build and a
// registry's can bear the same version.
//
// # Receipts
//
// To hash a package takes a second for each gigabyte, and it hardly ever
// changes. So when it has been hashed, a receipt is kept: its hashes, who
// vouched for it, what else its source told, where it came from, and what the
// file system says of each of its files and directories (inode, size, mode,
// mtime, ctime). As long as that is the same, the bytes are, because a change
// sets the ctime to the present and nobody but root can set it back. A receipt
// counts only if
//
//   - all these times were past when they were noted, by more than the time
//     within which two changes may look alike (20 ms; 2 s on file systems that
//     aren't known, or keep whole seconds), and the clock hasn't been set back;
//   - the file system is local, and the same: what another machine changes on a
//     network file system, or a program behind FUSE, shows as that one likes;
//   - there are nothing but files and directories in the package;
//   - all of it belongs to this user or to root, and nobody else can write to it,
//     because a write through a mapping into memory needn't set a time; in a
//     cache, the same goes for all directories above, but that a sticky one, like
//     /tmp, may be everybody's;
//   - on Windows, where whoever may write to a file may set its times, nobody
//     else but administrators may write to the package's directory, and in a
//     cache to the one that it is in.
//
// Everything else leads to hashing, and never to an error. Receipts are in the
// user's state directory, which must be writable by nobody else, so whoever can
// change packages in a shared cache can't write receipts for them. Packages of
// a cache that others can write to are hashed each time. Receipts beside
// a cache that is part of an image have neither inodes nor ctimes; they count
// if root alone can write to them, to the cache and to all directories above, and
// this process can't: it isn't root, or they are mounted read-only. A cache that
// root restores in CI is root's, too, and may bring along whatever receipts.
//
// What is not seen: damage that a disk does by itself, and what root does on
// purpose. Somebody who runs programs as the same user needs no packages.
//
// A package gets from a cache to its place as a symbolic link, a clone, hard
// links or a copy. A hard link changes the ctime of the file that it shares, so
// the cache's receipt is renewed under the package's lock, and serves all
// directories with the same files. To delete a directory whose files are hard
// links changes their ctime, too, just as a change of their content might: that
// costs hashing once, for all directories together. Links to the package, clones
// and copies cost none.
//
// Where others can write to the cache, or to a directory above it, they could
// exchange a package between the hashing and the copying. So clones, hard links
// and copies are hashed again in the private directory that they are made in, and
// a file that others can write to is copied, not linked. A symbolic link leads to
// whatever is in the cache when it is followed.
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
// # Upkeep
//
// An [Upkeep] lists, verifies and removes packages of a cache, beside running
// installations. Who uses a package is noted by those who install, in the
// user's state directory, before they link it. Whoever removes it takes its
// lock, moves it out of the way, and only then reads these notes: a link that was
// made before is noted by then, and brings the package back; one that is made
// later finds nothing, and the package is fetched. So locks, where there are any,
// save work only. Directories that have files of their own lose nothing.
//
// # Lock files for other platforms
//
// [Installer.Lock] finds out what lock files should hold, for packages that are
// never unpacked to anywhere. A signed list of checksums tells the zh of all
// platforms, and no h1: that takes the archive's files. So each archive is read
// once, and what is in it is remembered by its checksum in the user's state
// directory; installing remembers it, too. A lock file doesn't say which hash is for
// which platform. It is known by the same two: the list has the platform's zh,
// and the memory what h1 belongs to that.
//
// A registry may tell the h1, too, as those for OpenTofu do, for all platforms at
// once. Nobody has signed that. It gets into lock files, of Install as of Lock, if
// the provider's own registry tells it, beside the very zh that is signed for the
// platform: who tells whose signatures count could as well tell a false key. It
// decides about no package, and is never recorded of one that was read for the same
// lock entry. Network mirrors tell an h1 for each package; they are believed only
// where the caller says so ([TrustMirrorHashes]), only in place of reading it, and only
// if its content isn't remembered. With [ComputeHashes] nobody is believed. Where a
// registry tells nothing, lock files are those of the real tools.
//
// [ReadTrees] is the opposite of all that: it trusts nobody. It hashes what lies in a directory,
// and [ReadTree.Compare] says what a lock file proves of it. Receipts are for
// those who are in a hurry.
//
// # Mirrors
//
// [Installer.Mirror] fills a directory with packages as they are, packed, for others
// to install from, and writes the indexes of a network mirror beside them: the tree
// of the real tools, byte for byte, and besides the signed lists of the archives'
// checksums, which they ignore and we verify. A list is kept only where it is true
// of every archive of its version that the mirror has. The mirror may be served
// meanwhile. An archive comes into its place by one rename, before anything tells
// of it; a list comes with its signature last, and goes with it first; the document
// about a version comes before the list of versions that names it. An archive
// whose bytes have to change is first taken out of its document. So at every
// moment, and after a process was killed at any, what is listed is there. For
// what is removed, the order is the reverse, and between the indexes and the
// archives there is time for those who have read the indexes before.
//
// # Vendoring
//
// [Installer.Vendor] fills terraform.d/plugins of a working directory, where the
// products look by themselves, with archives or directories for chosen platforms, and
// returns the lock file for all of them. [Installer.Check] compares without
// a request. Packages are verified as by Install; where a lock file has no archive's
// checksum, it isn't binding for other platforms than this one.
//
// # What is refused
//
// The package never chooses a version that the constraints and the locks
// don't allow, never prints and holds no credentials. It reads no environment,
// but that Hashes and Lock use the system's directory for temporary files, for an
// archive that can't be hashed while it arrives. What an
// archive may contain is listed in unpack.go.
//
// # Differences from the real tools
//
// They are on purpose. A provider whose locked version is present and genuine,
// or is in the cache, costs no request; theirs ask for its versions each time.
// Packages of the cache serve without a lock entry, too; theirs fetch them
// again, unless they are told to trust whatever is there. A cache hit adds the
// signed hashes to a lock entry as a download does; theirs adds none. What a
// provider's registry tells of the hashes for other platforms is recorded; the real
// terraform doesn't read it, and OpenTofu records it for one registry only. Unpacked
// packages of a mirror are linked to where they are, not by way of the cache. A directory that
// exists is exchanged as a whole; theirs unpack over it, so that stray files
// survive and get into the lock file. The hash of an archive leaves out its
// directory entries, because a directory's hash does; a lock file that counts
// them is accepted too. Archives with links, absolute names or duplicates are
// refused, where they ignore, bend or overwrite. Files don't get set-user-ID
// bits from an archive. Copies of unpacked packages (where links aren't
// possible) include files whose names start with a dot, so that they have the
// hash of what they copy. For lock files, no archive is fetched a second time;
// theirs fetch all of them each time. A mirror keeps what is signed, and the archives that are in it
// and that their source vouches for; theirs fetch all of them each time, and list
// nothing if one of the mirror's archives can't be read, where only that one is
// left out here.
package providercache
