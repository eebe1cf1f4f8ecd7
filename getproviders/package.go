package getproviders

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Package is one provider version for one platform: what it is, where it is,
// and how to authenticate it.
type Package struct {
	Provider Provider
	Version  Version
	Platform Platform
	Location Location
	Source   string // who has it, as Source.Describe names it
	// SourceURL says where the package comes from, as [Description] has it, without
	// secrets; "" if that is not known.
	SourceURL string
	// FromRegistry says that the Source is the provider's own registry, wherever the service of
	// that registry is.
	FromRegistry bool
	// Protocols are the versions of the plugin protocol that the provider speaks,
	// as far as the source tells: "5.0,6.0"; "" if it doesn't.
	Protocols string
	// Trust is what the package is authenticated by. The zero Trust means that the
	// source has nothing to say, and the package stays unauthenticated.
	Trust Trust
	// Skipped joins the failures of sources that were to be asked first,
	// where a policy says to go on without them; nil if there were none.
	Skipped error
}

// validate returns an error for what was put together by hand and names no package.
func validate(p Provider, v Version, plat Platform) error {
	return cmp.Or(p.Validate(), v.Validate(), plat.Validate())
}

// Location is where a package is: an [HTTPArchive], a [LocalArchive] or a
// [LocalDirectory], or any other type that is an [Archive]. Nothing can be fetched
// from others.
type Location interface {
	// String is for messages: it has no credentials and no query.
	String() string
}

// Archive is a Location whose zip archive can be opened at an offset: in a database,
// an object store, an OCI registry, in memory. It is safe for many goroutines.
type Archive interface {
	Location
	// Open opens the archive. Reading its Body, and Open itself, end when ctx does. An
	// error ends the fetching of the package, and callers see it as it is; one that comes
	// while Body is read has Open called again, with the offset that was reached.
	Open(ctx context.Context, offset int64) (OpenedArchive, error)
}

// OpenedArchive is what an [Archive] opens.
type OpenedArchive struct {
	Body io.ReadCloser // the bytes from Offset to the end
	// Offset is where Body begins: the offset that was asked for, or 0 where only all
	// of the archive can be had.
	Offset int64
	Size   int64 // of the whole archive; -1: not known
	// Validator tells the archive from others that have been, or will be, at the same
	// Location: an ETag, a digest, a generation. "": it isn't known, and what was read is
	// worth nothing when Body breaks off, unless the checksum is known beforehand.
	Validator string
	// Modified is when the archive was changed last, for policies; zero: not known.
	Modified time.Time
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
	// Retries is how often the archive is requested again if there is no answer, or one
	// that gives hope; nil: as often as the client does that.
	Retries *int
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

// LocalArchive is the path of a zip archive, or of a link to one.
type LocalArchive string

// String returns the path.
func (a LocalArchive) String() string { return string(a) }

// LocalDirectory is the path of an unpacked package, or of a link to one.
type LocalDirectory string

// String returns the path.
func (d LocalDirectory) String() string { return string(d) }
