package getproviders

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Trust is what a package is authenticated by, and what else its source knows of
// its bytes. Each field may be empty. The zero Trust says nothing: the package stays
// unauthenticated. [TrustedBy] makes one of an authenticator: of hashes, of signed
// documents, or of a program's own one.
//
// A source that has to ask for documents sets Load, so that documents and archive
// can be asked for together. A Trust is a value to read and to pass on; no one changes
// what its fields refer to.
type Trust struct {
	// Authenticator authenticates the package; nil: there is nothing to do it by.
	Authenticator Authenticator

	// ExpectedSHA256 is the checksum that the archive should have; zero: it isn't
	// known. It tells by what name to keep a part of an archive for later, and whether
	// parts belong together; no package is authentic because of it.
	ExpectedSHA256 [32]byte

	// Documents are what Authenticator goes by, if a publisher has signed them, to
	// be passed on; nil: there are none.
	Documents *SignedDocuments

	// ListedHashes are of the package, of the schemes that are supported, as its
	// source lists them; nil: it lists none, or contradicts itself. No one has signed
	// them: whether to trust them without reading the package is for callers to decide.
	ListedHashes []Hash

	// RegistryHashes are an h1 for each platform that the provider's own registry
	// lists one for, beside the very zh that the checksum list has for that platform.
	// They are worth as much as that list, so Authenticate comes first: no one has signed
	// them, but who lists them also says whose signatures count. Mirrors have none.
	RegistryHashes map[Platform]Hash

	// Load returns the whole Trust, from the network if need be; nil: this is all.
	// Use [Trust.Loaded].
	Load func(ctx context.Context) (Trust, error)

	// LocalTrust says that Load may be left out where the lock file has checksums of
	// archives already: it takes a request, and would add nothing to those.
	LocalTrust bool

	// Recheck returns what Load would, going by documents that were kept in place of
	// those that it would ask for. It doesn't take their keys, but those that the source
	// names. nil: that isn't possible.
	Recheck func(kept SignedDocuments) Trust
}

// Loaded returns the whole Trust, which holds what t knows, too. Errors are those
// of Load; that of a registry matches ErrUnreachable or ErrUnauthorized.
func (t Trust) Loaded(ctx context.Context) (Trust, error) {
	if t.Load == nil {
		return t, nil
	}
	loaded, err := t.Load(ctx)
	if err != nil {
		return Trust{}, err
	}
	if loaded.ExpectedSHA256 == ([32]byte{}) {
		loaded.ExpectedSHA256 = t.ExpectedSHA256
	}
	return loaded, nil
}

// Digests is what an Authenticator has to know of a package's bytes.
type Digests struct {
	SHA256 [32]byte // of the archive; zero for a directory
	H1     Hash     // over the files
	// H1Archive is the h1 as it comes out if the archive's directory entries
	// are taken for empty files, as Terraform and OpenTofu do for archives; equal to
	// H1 where there are none.
	H1Archive Hash
}

// Authenticator authenticates a package by its digests. It does no I/O, so that
// what was hashed while it was downloaded needn't be read, and can't be changed, again.
// It is safe for many goroutines.
type Authenticator interface {
	// Authenticate returns who made the package, as far as that is known, or an
	// error that matches ErrAuthentication if the package is not what it should be.
	Authenticate(d Digests) (AuthenticationResult, error)
}

// TrustLevel says how far a package is to be trusted. Higher is more.
type TrustLevel int

// The trust levels. Only the last three rest on a signature.
const (
	LevelUnauthenticated  TrustLevel = iota // nothing is known: from a directory, say
	LevelVerifiedChecksum                   // the archive has the checksum that its source names
	LevelCommunity                          // signed by a key that the registry named
	LevelPartner                            // that key is signed by HashiCorp's partner programme
	LevelOfficial                           // signed by HashiCorp
)

// String returns the level as Terraform prints it ("signed by HashiCorp").
func (t TrustLevel) String() string {
	switch t {
	case LevelVerifiedChecksum:
		return "verified checksum"
	case LevelCommunity:
		return "self-signed"
	case LevelPartner:
		return "signed by a HashiCorp partner"
	case LevelOfficial:
		return "signed by HashiCorp"
	default:
		return "unauthenticated"
	}
}

// AuthenticationResult is the result of a successful check. The zero value stands
// for an unauthenticated package.
type AuthenticationResult struct {
	TrustLevel TrustLevel
	KeyID      string // 16 upper-case hex digits of the registry's key; "" below LevelCommunity and for LevelOfficial
	// Signed holds the hashes of all the version's packages that the signature
	// covers, for every platform: they may go into a lock file.
	Signed []Hash
	// Notes are remarks for people ("the key ... expired on ...").
	Notes []string
}

// SignedDocuments are what the packages of a version are authenticated by, for all
// platforms.
type SignedDocuments struct {
	Sums      []byte // SHA256SUMS
	Signature []byte // over Sums: OpenPGP, detached, binary
	// Keys are those that the origin registry names. In a mirror an attacker may
	// have named them.
	Keys []PublicKey
}

// AnyHash authenticates a package by a list of hashes of which at least one has to
// match, as a network mirror gives them: that is LevelVerifiedChecksum, because
// they are unsigned. Hashes of unknown schemes match nothing. An empty
// list lets nothing pass; where there are no hashes there is nothing to
// authenticate by.
type AnyHash []Hash

// Authenticate implements Authenticator. An error matches ErrAuthentication. An h1
// may be that of the unpacked files or that of the archive's entries, which
// differ where an archive lists its directories.
func (a AnyHash) Authenticate(d Digests) (AuthenticationResult, error) {
	found := d.hashes()
	for _, expected := range a {
		if expected.Supported() && slices.Contains(found, expected) {
			return AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, nil
		}
	}
	return AuthenticationResult{}, otherHashes(slices.Clone(a), found)
}

// trust is the Trust of a package whose source lists these hashes, and of which
// nothing else is known. That of an empty list is zero.
func (a AnyHash) trust() Trust {
	if len(a) == 0 {
		return Trust{}
	}
	return Trust{Authenticator: a, ExpectedSHA256: a.expectedSHA256(), ListedHashes: a.supported()}
}

func (a AnyHash) supported() []Hash {
	return slices.DeleteFunc(slices.Clone(a), func(h Hash) bool { return !h.Supported() })
}

// expectedSHA256 is the one zh of the list; zero if there is none, or more than one.
func (a AnyHash) expectedSHA256() (sum [32]byte) {
	known := false
	for _, h := range a {
		decoded, isZH := h.SHA256()
		if isZH && known && decoded != sum {
			return [32]byte{}
		}
		if isZH {
			sum, known = decoded, true
		}
	}
	return sum
}

// hashes lists what is known of the package. A directory has no zh: its zero
// digest must match nothing.
func (d Digests) hashes() []Hash {
	var known []Hash
	if d.H1 != "" {
		known = append(known, d.H1)
	}
	if d.H1Archive != "" && d.H1Archive != d.H1 {
		known = append(known, d.H1Archive)
	}
	if d.SHA256 != ([32]byte{}) {
		known = append(known, ZH(d.SHA256))
	}
	return known
}

// Sizes of the documents that a package is authenticated by. A checksum line takes
// some 120 bytes for each platform, a signature under a kilobyte.
const (
	checksumsBytes = 1 << 20
	signatureBytes = 64 << 10
)

// PublicKey is a signing key that a registry names.
type PublicKey struct {
	Armored        string // ASCII-armored
	TrustSignature string // over the key without its armor, itself ASCII-armored; "" for none
}

// otherHashes says that a package has none of the hashes of which it should have one.
func otherHashes(expected, found []Hash) error {
	failed := &Fault{
		Code: "checksum_mismatch", Kind: ErrAuthentication, Subject: Subject{Hashes: expected},
		Err:  fmt.Errorf("no checksum of a known scheme (h1 or zh) to check the package by, only: %s", joinHashes(expected)),
		Hint: "a newer version may know these; else tell those who run the source to name an h1 or zh checksum",
	}
	known := AnyHash(expected).supported()
	if len(known) == 0 {
		return failed
	}
	failed.Err = fmt.Errorf("the package has checksum %s, expected any of: %s", joinHashes(found), joinHashes(known))
	failed.Hint = "the package was damaged or replaced on its way, or where it is kept; if it happens again, tell those who run the source"
	if len(known) > 1 {
		return failed
	}
	for _, h := range found { // only the scheme of what is expected is of interest
		if h.Scheme() == known[0].Scheme() {
			failed.Err = fmt.Errorf("the package has checksum %s, expected %s", h, known[0].printable())
			break
		}
	}
	return failed
}

func joinHashes(hashes []Hash) string {
	return cmp.Or(joined(hashes, quoted, Hash.printable), "none")
}
