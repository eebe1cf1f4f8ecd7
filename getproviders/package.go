package getproviders

import (
	"cmp"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// Package is one provider version for one platform: what it is, where it is,
// and how to authenticate it.
type Package struct {
	Provider Provider
	Version  Version
	Platform Platform
	Location Location
	Source   string // who has it, as Source.Describe names it
	// SourceURL says where the package comes from, as [SourceURLOf] has it, without
	// secrets; "" if that is not known.
	SourceURL string
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
