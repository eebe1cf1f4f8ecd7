package getproviders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Source knows which packages of providers exist and where they are. Many goroutines may use a
// Source. Errors match one of the Err values of this package under errors.Is if callers may want to
// branch on them; when ctx ends, the error is its cause.
//
// The [Description] of a Source has optional functions that save requests. A Source that wraps
// another one returns the Description of that one, with its own changes.
type Source interface {
	// Versions lists the versions of a provider, each once, in no particular order, for all
	// platforms. The error matches ErrProviderNotFound if the source doesn't have the provider.
	Versions(ctx context.Context, p Provider) (Available, error)

	// Package describes the package of one version for one platform. The error matches
	// ErrPlatformMissing if the source has no package for this platform, and ErrVersionNotFound if
	// it doesn't have the version.
	Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error)

	// Describe returns the source's name and its optional functions for this provider. It makes no
	// request.
	Describe(p Provider) Description
}

// Available is a Source's answer about the versions of a provider.
type Available struct {
	Versions []Version
	Warnings []string // the registry's messages to users
	// PassedOver are warnings about sources that failed now, so that the next one was asked.
	PassedOver []string
	// Details are the list's data about each version. Callers must not change it.
	Details map[Version]Listed
}

// Listed is a list's data about a version; empty fields are unknown.
type Listed struct {
	Protocols    []string   // the versions of the plugin protocol, such as "5.0"
	Platforms    []Platform // sorted
	FromRegistry bool       // as in Package
}

// missing returns the error for a package that a source doesn't have. err is that of requesting the list; if the list can't be read, the
// error means only that the package is missing.
func (a Available) missing(ctx context.Context, err error, about Subject) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrProviderNotFound):
		return err
	case err != nil:
		return about.Missing()
	}
	return a.lacks(ctx, about)
}

// lacks returns the error for a version that isn't in the list, or has no package for the platform.
func (a Available) lacks(ctx context.Context, about Subject) *Fault {
	listed, ok := a.Details[about.Version]
	if !ok {
		about.Platform = Platform{}
	}
	about.Platforms = slices.Clone(listed.Platforms)
	about.Listed = about.Platform != (Platform{}) && slices.Contains(listed.Platforms, about.Platform)
	about.Newest = a.newest(func(v Version) bool {
		return v != about.Version && (!ok || slices.Contains(a.Details[v].Platforms, about.Platform)) && mayPropose(ctx, about.Provider, v)
	})
	about.Nowhere = listed.FromRegistry && about.Newest.IsZero() && len(listed.Platforms) > 0 && !slices.Contains(listed.Platforms, about.Platform)
	return about.Missing()
}

// Proposing returns a context for the requests of a Source. Its errors propose other versions only if may returns true for them, which is to
// say what a policy allows.
func Proposing(ctx context.Context, may func(Provider, Version) bool) context.Context {
	return context.WithValue(ctx, proposing{}, may)
}

type proposing struct{}

func mayPropose(ctx context.Context, p Provider, v Version) bool {
	may, ok := ctx.Value(proposing{}).(func(Provider, Version) bool)

	return !ok || may(p, v)
}

// newest returns the newest version that satisfies the condition.
func (a Available) newest(condition func(Version) bool) Version {
	return newestVersion(slices.DeleteFunc(slices.Clone(a.Versions), func(v Version) bool { return !condition(v) }))
}

// Description is a source's name for one provider, and what the source can do besides listing
// versions and describing packages. Its functions take the same provider again; each may be nil.
// Their errors are those of Package.
type Description struct {
	Name string // for people: a host, a URL, a directory

	// SourceURL returns the SourceURL that Package would return, or "" if it can't tell. It may
	// list versions, but makes no other request. A caller that records the SourceURL of each
	// package that it keeps can find out whether a kept package is the one that Package would
	// describe now. In rare cases the URL is wrong, because a source lists a version that it then
	// lacks; no package is recorded with such a URL.
	SourceURL func(ctx context.Context, p Provider, v Version, plat Platform) (string, error)

	// Platforms returns the platforms with a package of a version, sorted. It returns none if the
	// source doesn't say: the protocol of registries doesn't oblige them to.
	Platforms func(ctx context.Context, p Provider, v Version) ([]Platform, error)

	// Suggest returns the address that was probably meant by p, if a configuration implies p by
	// naming no address and p doesn't exist. It returns false after any failure.
	Suggest func(ctx context.Context, p Provider) (Provider, bool)

	// ExplainMissing finds out, by a request if necessary, why a source doesn't have the provider:
	// the server may be no registry. It returns "" if it finds no reason. It is for callers that
	// have failed already.
	ExplainMissing func(ctx context.Context, p Provider) string

	// RulesOut returns the error of Package for a version that the source certainly doesn't have, for
	// any platform: patterns keep the provider out, or a directory lacks the version. It makes no
	// request. It returns nil if the source has the version, or only a request could tell. A caller
	// that keeps packages uses none that is ruled out.
	RulesOut func(ctx context.Context, p Provider, v Version) error

	// Unasked are the sources that may not be asked, such as an [Offline], each as an error without
	// a version. Versions doesn't list what only they know.
	Unasked []*NotCachedError

	// Owns reports whether a SourceURL belongs to this source, without a request. An [Offline] needs it.
	Owns func(ctx context.Context, p Provider, sourceURL string) bool
}

// NotCachedError says that a package isn't on this machine, and that its source can't be asked. It
// matches ErrVersionNotFound or, without a Version, ErrProviderNotFound.
type NotCachedError struct {
	Provider Provider
	Version  Version   // zero means that no version is there
	Listed   []Version // the versions that the source listed when it was last asked, for explanations; nil if unknown
	Source   string    // as Source.Describe names it
	Bytes    int64     // the size of the archive; 0 if unknown
	By       string    // what forbids requests, such as "-offline"
	Damaged  string    // a directory with a package of the version that has none of the lock file's hashes; "" if there isn't any
}

// Error implements error.
func (e *NotCachedError) Error() string {
	what := e.Provider.String()
	if !e.Version.IsZero() {
		what += " " + e.Version.String()
	}
	return fmt.Sprintf("%s is not on this machine, and %s allows no request to the %s", what, e.By, e.Source)
}

// code returns "not_cached".
func (e *NotCachedError) code() string { return "not_cached" }

// Is reports whether target is one of the errors that e matches.
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
	Source   string // the source that has it, as Source.Describe names it
	// ShortSource is the Source in short: the host of a registry, the URL of a network mirror; ""
	// if the Source has no shorter name.
	ShortSource string
	// SourceURL says where the package comes from, as in [Description], without secrets; "" if
	// unknown.
	SourceURL string
	// FromRegistry says that the Source is the provider's own registry, on whichever host its
	// service is.
	FromRegistry bool
	// Protocols are the versions of the plugin protocol that the provider speaks, such as "5.0"; none
	// if the source doesn't say.
	Protocols []string
	// Trust authenticates the package. With the zero Trust the package stays unauthenticated.
	Trust Trust
	// Skipped joins the errors of earlier sources that were skipped because of Fallback; nil
	// without any.
	Skipped error
}

// validate returns an error for parts that no parser returns.
func validate(p Provider, v Version, plat Platform) error {
	return cmp.Or(p.Validate(), v.Validate(), plat.Validate())
}

// Location is where a package is: an [HTTPArchive], a [LocalArchive], a [LocalDirectory], or any
// other [Archive]. Packages at other Locations can't be fetched.
type Location interface {
	// String is for messages: it has no credentials and no query.
	String() string
}

// Archive is a Location whose zip archive can be opened at an offset: in a database, an object
// store, an OCI registry, or memory. Many goroutines may use it.
type Archive interface {
	Location
	// Open opens the archive. Open and reads of its Body end when ctx does. An error of Open ends
	// the fetch of the package, and callers get it unchanged. After an error of Body, Open is
	// called again with the offset that was reached.
	Open(ctx context.Context, offset int64) (OpenedArchive, error)
}

// OpenedArchive is the result of [Archive].Open.
type OpenedArchive struct {
	Body io.ReadCloser // the bytes from Offset to the end
	// Offset is where Body begins: the requested offset, or 0 if only the whole archive can be read.
	Offset int64
	Size   int64 // of the whole archive; -1 if unknown
	// Validator identifies the content among others at the same Location, before or later: an ETag,
	// a digest, a generation. "" means unknown: a download that breaks off then starts again,
	// unless its checksum is known in advance.
	Validator string
	// Modified is when the archive was last changed, for policies; zero if unknown.
	Modified time.Time
}

// HTTPArchive is a zip archive at an http or https URL. The URL's query may be a secret (a signed
// URL), so print the Location, not the URL.
type HTTPArchive struct {
	URL *url.URL
	// Owner is the host whose credentials were sent with the request for the package's description,
	// if the archive has the same origin as the description; else "". The protocols have no
	// credentials for archives: they are sent only if the user asks for it, as with SameHost of
	// cliconfig.NetworkOptions.
	Owner hosts.Hostname
	// Retries is how often the archive is requested again after no answer or a temporary error; nil
	// means as often as the client does.
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

// LocalArchive is the path of a zip archive, or of a symlink to one.
type LocalArchive string

// String returns the path.
func (a LocalArchive) String() string { return string(a) }

// LocalDirectory is the path of an unpacked package, or of a symlink to one.
type LocalDirectory string

// String returns the path.
func (d LocalDirectory) String() string { return string(d) }

// describedArchive returns the location of an archive that the document at the URL doc names. The
// credentials of owner are for the origin of base.
func describedArchive(archive, doc, base *url.URL, owner hosts.Hostname) HTTPArchive {
	if !hosts.SameOrigin(doc, base) || !hosts.SameOrigin(archive, base) {
		owner = ""
	}
	return HTTPArchive{URL: archive, Owner: owner}
}

// ReaderArchive is an [Archive] in anything that can be read at an offset: an open file, a database
// blob, bytes in memory.
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

// TrustedBy returns the Trust of a package that by authenticates: by your own signatures, or a
// database of approved digests. With an [AnyHash] it also has the known checksum. With nil it is
// zero, and the package stays unauthenticated.
func TrustedBy(by Authenticator) Trust {
	if known, ok := by.(interface{ trust() Trust }); ok {
		return known.trust()
	}
	return Trust{Authenticator: by}
}
