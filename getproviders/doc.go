// Package getproviders says which packages of a provider exist, where they are,
// and whether bytes are authentic. Package providercache puts on disk what this
// one has found and authenticated; many programs need no more of this package than:
//
//	product := getproviders.Terraform("1.15.9")
//	widget, err := product.ParseProvider("acme/widget")
//	source := &getproviders.RegistrySource{Product: product}
//	available, err := source.Versions(ctx, widget)
//	newest, ok := getproviders.MustParseConstraints("~> 1.0").Newest(available.Versions)
//	pkg, err := source.Package(ctx, widget, newest, getproviders.CurrentPlatform())
//	fmt.Println(pkg.Location) // and pkg.Trust says how to authenticate it
//
// Wishes for providers by address ([Provider]) and version ([Constraints]) are together
// [Requirements]. A [Source] knows the versions of a provider, and describes the
// [Package] of one [Version] for one [Platform]. There are the origin registry of a
// provider's host ([RegistrySource]), servers and directories with copies
// ([NetworkMirrorSource], [FilesystemMirrorSource]), [MultiSource], which asks several in
// order, [Offline] for one that may not be asked, and whatever implements the
// interface. A Package says where its bytes are ([Location]) and how to trust them
// ([Trust]): an [Authenticator] compares the [Digests] of the bytes with what publisher
// and registry have signed, and says how far the package is to be trusted
// ([TrustLevel]) and which [Hash] values may go into a lock file. What differs between
// [Terraform] and [OpenTofu] is a field of the [Product].
//
// # What it trusts
//
// An origin registry is trusted about which versions exist and which keys sign
// them, since the TLS certificate of its host says who it is. The archive's bytes may
// come from anywhere: their SHA-256 has to be the one that the registry names, that
// one has to stand in the version's list of checksums, and the list has to be signed
// by one of the keys. Only keys that no registry can choose, HashiCorp's, raise a package
// above what its registry says of it. In a mirror, what is signed proves itself only by
// keys that need no registry to name them ([Signers]). A lock file's hashes outrank
// everything here; to check them is the installer's part. Authenticators take digests
// and not paths, so that what was authenticated and what gets installed can't be two
// different readings of a file.
//
// # What it refuses to do
//
// It never writes to disk, logs, prints or exits. It has no global state but the HTTP
// client that nil stands for, and reads no environment variable, no configuration file,
// and no clock but where a field named Now is nil. It takes no input that could make
// it panic, except through functions named Must. Errors match the Err values of
// this package, and have codes ([CodeOf]) and hints ([HintsOf]); most are a [Fault], which
// also says what it is about.
//
// # Where it differs from Terraform and OpenTofu
//
// What is peculiar to one kind of source stands in its own documentation. Besides,
// versions that differ only in build metadata have a fixed order, where theirs is
// random; a mirror may have the publisher's checksum list, its signature and the keys
// beside the archives; what a registry lists of the hashes of all packages of a version
// is kept, as far as its signed checksum list agrees; a version number that doesn't fit
// into 64 bits is an error, and no crash; a name whose normalised form has a dot, an
// empty label or a character that can't be displayed is refused, because names become
// directories; platforms are two words of letters and digits.
package getproviders
