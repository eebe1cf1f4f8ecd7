package getproviders

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Source knows which packages of providers exist and where they are. A Source
// is safe for many goroutines. Failures match one of the Err values of this
// package under errors.Is where a caller has reason to branch; when ctx ends,
// the error is its cause.
//
// A Source may be able to do more, and save requests by it: its [Description] has
// functions for that. A Source that stands on another one passes on the Description of
// that one, with the changes that it makes.
type Source interface {
	// Versions lists the versions of a provider, each once, in no particular
	// order, for all platforms. ErrProviderNotFound if the source doesn't have
	// it.
	Versions(ctx context.Context, p Provider) (Available, error)

	// Package describes the package of one version for one platform.
	// ErrPlatformMissing if there is none for this platform,
	// ErrVersionNotFound if there is no such version.
	Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error)

	// Describe names the source for this provider, and says what else it can do. It
	// asks for nothing.
	Describe(p Provider) Description
}

// Available is a Source's answer about the versions of a provider.
type Available struct {
	Versions []Version
	Warnings []string // what the registry wants its users to read
	// Details are what the list tells about versions beside their numbers. They must not be changed.
	Details map[Version]Listed
}

// Listed is what a list tells about a version; what is empty isn't told.
type Listed struct {
	Protocols    []string   // the versions of the plugin protocol, such as "5.0"
	Platforms    []Platform // sorted
	FromRegistry bool       // as a Package has it
}

// lacks says what a list lacks: the version, or where it has that, a package for the platform.
func (a Available) lacks(about Subject) *Fault {
	listed, ok := a.Details[about.Version]
	if !ok {
		about.Platform = Platform{}
	}
	about.Platforms = slices.Clone(listed.Platforms)
	about.Newest = a.newest(func(v Version) bool {
		return v != about.Version && (!ok || slices.Contains(a.Details[v].Platforms, about.Platform))
	})
	about.Nowhere = listed.FromRegistry && about.Newest.IsZero() && len(listed.Platforms) > 0 && !slices.Contains(listed.Platforms, about.Platform)
	return about.Missing()
}

// newest returns the newest version that satisfies the condition.
func (a Available) newest(condition func(Version) bool) Version {
	return newestVersion(slices.DeleteFunc(slices.Clone(a.Versions), func(v Version) bool { return !condition(v) }))
}

// Description says what a source is for one provider, and what it can do beside
// listing versions and describing packages. Its functions take this provider again; each
// may be nil. Their errors are those of Package.
type Description struct {
	Name string // for people: a host, a URL, a directory

	// SourceURL returns what Package would return as the Package's SourceURL. It may
	// list versions, and asks for nothing else; where that isn't enough, it
	// returns "". A caller that keeps packages, and records the SourceURL of each, can
	// tell by it whether one that is there is the one that Package would describe
	// now. A URL that is wrong in rare cases, because a source lists what it then
	// lacks, is one that no package has been recorded with.
	SourceURL func(ctx context.Context, p Provider, v Version, plat Platform) (string, error)

	// Platforms returns those that there are packages of a version for, sorted. None
	// means that the source doesn't tell: the protocol of registries doesn't oblige
	// them to.
	Platforms func(ctx context.Context, p Provider, v Version) ([]Platform, error)

	// Suggest returns the address that was probably meant by p, where that one was taken for
	// granted, because a configuration names none, and turned out not to exist. Any
	// failure means that there is no suggestion.
	Suggest func(ctx context.Context, p Provider) (Provider, bool)

	// ExplainMissing finds out, by a request if need be, why a source that was asked doesn't
	// have the provider: what it is may be no registry. "" if nothing is found. It is
	// for callers that have failed already.
	ExplainMissing func(ctx context.Context, p Provider) string

	// Unasked are the sources that may not be asked, such as an [Offline], each
	// as an error that has no version. What only they know is not among what Versions
	// lists.
	Unasked []*NotCachedError

	// owns reports whether a SourceURL is one of this source, without a request.
	owns func(ctx context.Context, p Provider, sourceURL string) bool
}

// NotCachedError says that a package isn't on this machine, and that the source
// that may have it can't be asked. It matches hosts.ErrOffline, and
// ErrVersionNotFound or, where any version would do, ErrProviderNotFound.
type NotCachedError struct {
	Provider Provider
	Version  Version   // zero: no version is there
	Listed   []Version // which versions there were when the source was asked last, for explanations; nil: not known
	Source   string    // as Source.Describe names it
	Bytes    int64     // the size of the archive; 0: not known
	By       string    // what forbids requests, such as "-offline"
	Damaged  string    // a directory with a package of the version that isn't the one that the lock file records; "": there is none
}

// Error implements error.
func (e *NotCachedError) Error() string {
	what := e.Provider.String()
	if !e.Version.IsZero() {
		what += " " + e.Version.String()
	}
	return fmt.Sprintf("%s is not on this machine, and %s allows no request to the %s", what, e.By, e.Source)
}

// code is "not_cached".
func (e *NotCachedError) code() string { return "not_cached" }

// Is reports which of the errors that callers branch on it is.
func (e *NotCachedError) Is(target error) bool {
	if e.Version.IsZero() {
		return target == hosts.ErrOffline || target == ErrProviderNotFound || target == ErrNotFound
	}
	return target == hosts.ErrOffline || target == ErrVersionNotFound || target == ErrNotFound
}

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

// describedArchive is the location of an archive that a document at the URL
// doc names, where the credentials of owner are for the origin of base.
func describedArchive(archive, doc, base *url.URL, owner hosts.Hostname) HTTPArchive {
	if !hosts.SameOrigin(doc, base) || !hosts.SameOrigin(archive, base) {
		owner = ""
	}
	return HTTPArchive{URL: archive, Owner: owner}
}

// ReaderArchive is an [Archive] that is anything which can be read at an offset: a file
// that is open, a blob of a database, bytes in memory.
type ReaderArchive struct {
	Name   string // for messages
	Reader io.ReaderAt
	Size   int64 // bytes
}

// String returns the name.
func (a ReaderArchive) String() string { return a.Name }

// Open implements Archive.
func (a ReaderArchive) Open(_ context.Context, offset int64) (OpenedArchive, error) {
	if a.Reader == nil || offset < 0 || offset > a.Size {
		return OpenedArchive{}, fmt.Errorf("there is nothing to read at byte %d of %d", offset, a.Size)
	}
	rest := io.NewSectionReader(a.Reader, offset, a.Size-offset)
	return OpenedArchive{Body: io.NopCloser(rest), Offset: offset, Size: a.Size}, nil
}

// TrustedBy is the Trust of a package that an authenticator authenticates: one's own
// signatures, a database of approved digests. What [AnyHash]
// knows beside that, such as the checksum to expect, is in it. Of a nil authenticator
// it is zero, and the package stays unauthenticated.
func TrustedBy(by Authenticator) Trust {
	if known, ok := by.(interface{ trust() Trust }); ok {
		return known.trust()
	}
	return Trust{Authenticator: by}
}
