// Package remote has the interface of a mirror that has no files, but versions: a registry of container images.
package remote

import (
	"context"
	"io"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Releases publishes archives at a place that has no files, but versions with archives for platforms: a registry of
// container images, as in package internal/oci. Many goroutines may use it.
type Releases interface {
	// Published returns the archives of a version, without reading their content; none if the version doesn't exist.
	// signed reports whether the version has documents signed by its publisher.
	Published(ctx context.Context, p getproviders.Provider, v getproviders.Version) (archives []Release, signed bool, err error)
	// Publish adds archives to a version, all or none. It never replaces an existing archive by a different one, but
	// returns an error. It adds signed, the publisher's signed documents, if they apply to all archives of the version
	// by then; nil means unknown.
	Publish(ctx context.Context, p getproviders.Provider, v getproviders.Version, archives []Release, signed *getproviders.SignedDocuments) error
	// Path returns the name of a version for messages.
	Path(p getproviders.Provider, v getproviders.Version) string
}

// Release is the archive of a version for a platform.
type Release struct {
	Platform getproviders.Platform
	ZH       getproviders.Hash
	H1       getproviders.Hash // of the package's files; "" means unknown
	Archive  *io.SectionReader // the content to publish
	// From is where the archive can be read. For an archive to publish, the registry may have it at another
	// location.
	From getproviders.Location
}
