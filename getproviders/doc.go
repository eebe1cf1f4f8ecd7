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
// A provider's address ([Provider]) with version constraints ([Constraints]) is a requirement, and
// many are [Requirements]. A [Source] lists the versions of a provider, and describes the [Package]
// of one [Version] for one [Platform]. The sources are the origin registry of a provider's host
// ([RegistrySource]), servers and directories with copies ([NetworkMirrorSource],
// [FilesystemMirrorSource]), several sources in order ([MultiSource]), a source that may not be
// asked ([Offline]), and your own implementations. A Package says where its bytes are ([Location])
// and how to trust them ([Trust]): an [Authenticator] compares the [Digests] of the bytes with what
// publisher and registry have signed, and returns how far the package is to be trusted
// ([TrustLevel]) and which [Hash] values may go into a lock file. What differs between [Terraform]
// and [OpenTofu] is a field of the [Product].
//
// # What it trusts
//
// An origin registry is trusted about which versions exist and which keys sign them, because the
// TLS certificate of its host authenticates it. The archive's bytes may come from anywhere: the
// registry names their SHA-256, the version's list of checksums must have this SHA-256, and one of
// the keys must have signed the list. Only HashiCorp's keys, which no registry can choose, raise a
// package above what its registry says of it. In a mirror only keys that need no registry to name
// them count ([Signers]). A lock file's hashes outrank everything here; the installer checks them.
// Authenticators take digests and not paths, so that the bytes that were authenticated are the
// bytes that are installed.
//
// # What it refuses to do
//
// It never writes to disk, logs, prints or exits. Its only global state is the HTTP client that a
// nil client means. It reads no configuration file, and no environment variables but the proxy's.
// No input makes it panic, except in functions named Must. Errors match the Err values of this
// package, and have codes ([CodeOf]) and hints ([HintsOf]); most are a [Fault], which also says
// what it is about.
//
// # Where it differs from Terraform and OpenTofu
//
// Differences of one kind of source are in its own documentation. Besides these, versions that
// differ only in build metadata have a fixed order, where theirs is random; a mirror may have the
// publisher's checksum list, its signature and the keys beside the archives; the hashes that a
// registry lists for all packages of a version are kept if its signed checksum list agrees; a
// version number that doesn't fit into 64 bits is an error, not a crash; a name whose normalised
// form has a dot, an empty label or a character that can't be displayed is refused, because names
// become directories; platforms are two words of letters and digits.
package getproviders
