package getproviders

import (
	"context"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// Package is one provider version for one platform: what it is, where it is,
// and how to know that it is genuine.
type Package struct {
	Provider Provider
	Version  Version
	Platform Platform
	Location Location
	Source   string // who has it, as Source.Describe names it
	Origin   string // as Originator has it, without secrets; "" if nobody can tell
	// Protocols are the versions of the plugin protocol that the provider speaks,
	// as far as the source tells: "5.0,6.0"; "" if it doesn't.
	Protocols string
	// Trust finds what the package is judged by; nil means that the source has
	// nothing to say and the package stays unauthenticated.
	Trust Trust
	// Skipped joins the failures of sources that were to be asked first,
	// where a policy says to go on without them; nil if there were none.
	Skipped error
}

// Location is where a package is: HTTPArchive, LocalArchive or LocalDirectory.
type Location interface {
	// String is for messages: it has no credentials and no query.
	String() string
	location()
}

// HTTPArchive is a zip archive behind an http or https URL. The query of the
// URL may be a secret (a signed URL), so print the Location, not the URL.
type HTTPArchive struct {
	URL *url.URL
	// Owner is the host with whose credentials the package's description was
	// asked for, if the archive lies at the very origin that the description
	// came from; else "". The protocols have no credentials for archives: they
	// are sent where the user asked for it only, with hosts.WithArchiveOwner.
	Owner hosts.Hostname
}

// String returns the URL without userinfo, query and fragment.
func (a HTTPArchive) String() string {
	if a.URL == nil {
		return ""
	}
	plain := *a.URL
	plain.RawQuery, plain.ForceQuery = "", false
	return hosts.RedactURL(&plain)
}

func (HTTPArchive) location() {}

// LocalArchive is the path of a zip archive, or of a link to one.
type LocalArchive string

// String returns the path.
func (a LocalArchive) String() string { return string(a) }

func (LocalArchive) location() {}

// LocalDirectory is the path of an unpacked package, or of a link to one.
type LocalDirectory string

// String returns the path.
func (d LocalDirectory) String() string { return string(d) }

func (LocalDirectory) location() {}

// Trust finds the documents that a package is judged by. It is a value apart
// from Authenticator so that documents and archive can be asked for together.
type Trust interface {
	// Load gets the documents (for a registry: SHA256SUMS and its signature),
	// from the network if need be. The Authenticator is nil if there turn out to
	// be none.
	Load(ctx context.Context) (Authenticator, error)
}

// Offhand is a Trust that can do without documents that it would have to ask
// for, where those would tell no more than is known already.
type Offhand interface {
	// Offhand returns what the package can be judged by without asking anybody;
	// nil if that is nothing.
	Offhand() Authenticator
}

// Documented is an Authenticator that judges by documents which a publisher has
// signed, and has them to pass on.
type Documented interface {
	Documents() SignedDocuments
}

// Rejudger is a Trust that can judge by documents that somebody kept, instead of
// asking for them again. It doesn't take their keys, but those that its source names.
type Rejudger interface {
	Rejudge(kept SignedDocuments) Authenticator
}

// Foreteller is a Trust that knows the archive's checksum without loading
// anything. It tells by what name to keep a part of an archive for later, and
// whether parts belong together; no package is genuine because of it.
type Foreteller interface {
	// Foretell returns the SHA-256 that the archive is going to have; ok is
	// false if that isn't known.
	Foretell() (sha256 [32]byte, ok bool)
}

// Digests is what an Authenticator has to know of a package's bytes.
type Digests struct {
	SHA256 [32]byte // of the archive; zero for a directory
	H1     Hash     // over the files
	// H1Archive is the h1 as it comes out if the archive's directory entries
	// are taken for empty files, as the real tools do for archives; equal to
	// H1 where there are none.
	H1Archive Hash
}

// Authenticator judges a package by its digests. It does no I/O, so that what
// was hashed while it was received needn't be read, or changed, again.
type Authenticator interface {
	// Authenticate returns what is known about the package's origin, or an
	// error that matches ErrAuthentication if the package is not genuine.
	Authenticate(d Digests) (AuthenticationResult, error)
}

// TrustLevel says how far a package is to be trusted. Higher is more.
type TrustLevel int

// The trust levels. Only the last three rest on a signature.
const (
	LevelUnauthenticated  TrustLevel = iota // nothing is known: from a directory, say
	LevelVerifiedChecksum                   // the archive has the checksum that its source names
	LevelCommunity                          // signed by a key that the registry named
	LevelPartner                            // that key is vouched for by HashiCorp's partner programme
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
