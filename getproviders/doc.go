// Package getproviders says which packages of a provider exist, where they are,
// and whether bytes are genuine. It is the front half of an installer: package
// providercache puts on disk what this one has found and judged.
//
// # From requirement to package
//
// A configuration asks for providers by address ([Provider], which an [Product]
// reads from text) and says which versions will do ([Constraints]); all its
// wishes together are [Requirements]. A [Source] knows the versions of a
// provider that exist, and describes the [Package] of one [Version] for one
// [Platform]. There are the origin registry of a provider's host
// ([RegistrySource]), servers and directories with copies
// ([NetworkMirrorSource], [FilesystemMirrorSource]), and [MultiSource], which
// asks several in order. [OfflineSource] stands for one that may not be asked.
// [Constraints.Newest] chooses among the versions.
//
// There are two products, [Terraform] and [OpenTofu]. What differs between them is a
// field of the Product: the registry that is meant where none is named, the names of
// files, what is inherited from the other, and whether that registry may name no signing key.
//
// A Package says where its bytes are ([Location]) and how to trust them
// ([Trust]). Whoever has read the bytes computes their [Digests]; an
// [Authenticator] compares those with what publisher and registry vouched for,
// and tells how far the package is to be trusted ([TrustLevel]) and which [Hash]
// values may go into a lock file.
//
// # What it trusts
//
// An origin registry is believed about which versions exist and which keys
// sign them, since the TLS certificate of its host says who it is. The archive's
// bytes may come from anywhere: their SHA-256 has to be the one that the
// registry names, that one has to stand in the version's list of checksums,
// and the list has to be signed by one of the keys. Only [SigningKeys], which
// no registry can choose, raise a package above what its registry says of it.
// Mirrors vouch for integrity at most: what is signed may lie in one, and proves
// itself only by keys that need no registry to name them ([Signers]); no key is
// trusted because a mirror has it. A lock file's hashes outrank everything here;
// checking them is the installer's part.
//
// Authenticators take digests and not paths, so that what was judged and what
// gets installed can't be two different readings of a file.
//
// # What it refuses to do
//
// It never writes to disk. It has no global state, and reads no environment
// variable and no configuration file, and no clock but where a field named Now
// is nil: what a source needs is a field of that source. It doesn't log, print
// or exit; it returns errors, to be told apart with errors.Is and the Err values
// of this package. It takes no input that could make it panic, except through
// functions named Must.
//
// # Where it differs from the real tools
//
// What is peculiar to one kind of source stands in its own documentation.
// Besides:
//
//   - Versions that differ only in build metadata are chosen between in a fixed
//     order; the real tools choose at random.
//   - A mirror may have the publisher's checksum list, its signature and the keys
//     beside the archives; the real tools don't look at them.
//   - What a registry tells of the hashes of all packages of a version is kept, as
//     far as its signed checksum list bears it out; the real terraform doesn't look
//     at it.
//   - A version number that doesn't fit into 64 bits is an error; the real
//     tools crash.
//   - A name whose normalised form has a dot, an empty label or a character
//     that can't be displayed is refused, whatever script the dot was written
//     in: names become directories.
//   - Platforms are two words of letters and digits; the real tools take
//     anything without a space.
package getproviders
