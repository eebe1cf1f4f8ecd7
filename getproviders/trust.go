package getproviders

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Trust says how to authenticate a package, and has the hashes that its source lists. Each field
// may be empty. With the zero Trust the package stays unauthenticated. [TrustedBy] makes one of an
// authenticator.
//
// A source that must request documents sets Load, so that documents and archive can be requested at
// the same time. The contents of a Trust's fields must not be changed.
type Trust struct {
	// Authenticator authenticates the package; nil means that nothing can.
	Authenticator Authenticator

	// ExpectedSHA256 is the expected checksum of the archive; zero if unknown. It names the partial
	// file of an interrupted download, and says whether parts belong together. It doesn't
	// authenticate the package.
	ExpectedSHA256 [32]byte

	// Documents are the signed documents that Authenticator uses, for mirrors; nil if no publisher
	// signed any.
	Documents *SignedDocuments

	// ListedHashes are the package's hashes of supported schemes that its source lists; nil if it
	// lists none, or contradicts itself. They are unsigned: callers decide whether to trust them
	// without reading the package.
	ListedHashes []Hash

	// RegistryHashes are the h1 by platform that the provider's own registry lists, beside the same
	// zh as the checksum list has for that platform. They are as trustworthy as that list, so call
	// Authenticate first: they are unsigned, but the registry that lists them also says whose
	// signatures count. Mirrors have none.
	RegistryHashes map[Platform]Hash

	// Load returns the complete Trust, from the network if necessary; nil means that this Trust is
	// complete. Use [Trust.Loaded].
	Load func(ctx context.Context) (Trust, error)

	// LocalTrust says that Load isn't needed if the lock file has checksums of archives already: it
	// would make a request and add nothing to those.
	LocalTrust bool

	// Recheck returns what Load would return with kept in place of the documents that Load
	// requests. It takes the source's keys, not those of kept. nil means that the source can't.
	Recheck func(kept SignedDocuments) Trust
}

// Loaded returns the complete Trust, with the ExpectedSHA256 of t. Errors are those of Load; a
// registry's error matches ErrUnreachable or ErrUnauthorized.
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

// Digests are the digests of a package's bytes that an Authenticator needs.
type Digests struct {
	SHA256 [32]byte // of the archive; zero for a directory
	H1     Hash     // over the files
	// H1Archive is the h1 if the archive's directory entries count as empty files, as Terraform and
	// OpenTofu count them for archives; equal to H1 if the archive has no directory entries.
	H1Archive Hash
}

// Authenticator authenticates a package by its digests. It does no I/O, so that what was hashed
// during the download needn't be read again, and can't change in between. Many goroutines may use
// it.
type Authenticator interface {
	// Authenticate returns who signed the package, as far as that is known. The error matches
	// ErrAuthentication if the package isn't authentic.
	Authenticate(d Digests) (AuthenticationResult, error)
}

// TrustLevel is the degree of trust in a package. Higher means more trust.
type TrustLevel int

// The trust levels. Only the last three rest on a signature.
const (
	LevelUnauthenticated  TrustLevel = iota // unknown: from a directory, for example
	LevelVerifiedChecksum                   // the archive has a checksum that its source lists
	LevelCommunity                          // signed by a key that the registry names
	LevelPartner                            // signed by a key with the trust signature of HashiCorp's partner programme
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

// AuthenticationResult is the result of a successful check. The zero value means an unauthenticated
// package.
type AuthenticationResult struct {
	TrustLevel TrustLevel
	KeyID      string // 16 upper-case hex digits of the registry's key; "" below LevelCommunity and for LevelOfficial
	// Signed holds the signed hashes of the version's packages for all platforms: they may go into
	// a lock file.
	Signed []Hash
	// Notes are messages for people ("the key ... expired on ...").
	Notes []string
}

// SignedDocuments authenticate the packages of a version for all platforms.
type SignedDocuments struct {
	Sums      []byte // SHA256SUMS
	Signature []byte // over Sums: OpenPGP, detached, binary
	// Keys are those that the origin registry names. In a mirror they may be an attacker's.
	Keys []PublicKey
}

// AnyHash authenticates a package by a list of hashes, one of which must match, as network mirrors
// list them. The result is LevelVerifiedChecksum, because they are unsigned. Hashes of unknown
// schemes match nothing. An empty list rejects every package; use the zero Trust if no hashes are
// known.
type AnyHash []Hash

// Authenticate implements Authenticator. An error matches ErrAuthentication. An h1 may be computed
// from the unpacked files or from the archive's entries, which differ if the archive has directory
// entries.
func (a AnyHash) Authenticate(d Digests) (AuthenticationResult, error) {
	found := d.hashes()
	for _, expected := range a {
		if expected.Supported() && slices.Contains(found, expected) {
			return AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, nil
		}
	}
	return AuthenticationResult{}, otherHashes(slices.Clone(a), found)
}

// trust returns the Trust of a package by these hashes alone. An empty list returns the zero Trust.
func (a AnyHash) trust() Trust {
	if len(a) == 0 {
		return Trust{}
	}
	return Trust{Authenticator: a, ExpectedSHA256: a.expectedSHA256(), ListedHashes: a.supported()}
}

func (a AnyHash) supported() []Hash {
	return slices.DeleteFunc(slices.Clone(a), func(h Hash) bool { return !h.Supported() })
}

// expectedSHA256 returns the zh of the list; zero if the list has none, or several different ones.
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

// hashes returns the known hashes of the package. It skips the zero digest of a directory, which
// must match nothing.
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

// Size limits of the documents that authenticate a package. A checksum line takes some 120 bytes
// for each platform, a signature under a kilobyte.
const (
	checksumsBytes = 1 << 20
	signatureBytes = 64 << 10
)

// PublicKey is a signing key that a registry names.
type PublicKey struct {
	Armored        string // ASCII-armored
	TrustSignature string // over the key without its armor, itself ASCII-armored; "" for none
}

// otherHashes returns the error for a package that has none of the expected hashes.
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
	for _, h := range found { // show only the hash with the expected scheme
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
