// Package remote has the interfaces of a remote storage for packages: for those of a cache, by their hashes, and for
// those of a mirror without files, by their versions.
package remote

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/layout"
)

// Name identifies a package.
type Name struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	H1       getproviders.Hash // of the package's files
}

// Key returns the name as a path, such as
// "tfdeps-1/registry.terraform.io/hashicorp/random/3.6.0/linux_amd64/0123….zip", in which the h1 is
// hexadecimal. It returns an error for an invalid name.
func (n Name) Key() (string, error) {
	digest, err := n.digest()
	if err != nil {
		return "", err
	}
	return Root + "/" + layout.UnpackedPath(n.Provider, n.Version, n.Platform) + "/" + digest + ".zip", nil
}

// Root is the first part of all keys. Its number changes with the layout.
const Root = "tfdeps-1"

// Tag returns the name as a tag, which has no slashes, such as "linux_amd64-0123…". An h1 belongs
// to one provider and version. The tag includes the platform because lock files don't tell the
// platform of an h1: without it, a lookup would find the package of another platform.
func (n Name) Tag() (string, error) {
	digest, err := n.digest()
	return n.Platform.String() + "-" + digest, err
}

func (n Name) digest() (string, error) {
	if err := errors.Join(n.Provider.Validate(), n.Version.Validate(), n.Platform.Validate()); err != nil {
		return "", err
	}
	text, ok := strings.CutPrefix(string(n.H1), hashing.H1+":")
	raw, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(raw) != 32 {
		return "", fmt.Errorf("%.100q isn't the h1 of a package", n.H1)
	}
	return hex.EncodeToString(raw), nil
}

// Remote stores archives of packages. Many goroutines and processes may use it.
type Remote interface {
	// At returns the archive of a package, whether it exists or not, without a request. It returns an error for an
	// invalid name.
	At(n Name) (Archive, error)
	// String returns the remote's name for messages.
	String() string
}

// Archive is an archive of a remote. String returns its URL without secrets. Open returns ErrAbsent if it
// doesn't exist.
type Archive interface {
	getproviders.Archive
	// Exists reports whether the remote has the archive.
	Exists(context.Context) (bool, error)
	// Put writes the archive atomically. It may leave an existing one as it is.
	Put(ctx context.Context, content *io.SectionReader) error
}

// ErrAbsent means that a remote doesn't have a package.
var ErrAbsent error = &getproviders.Fault{Kind: getproviders.ErrPlatformMissing, Err: errors.New("the package isn't there")}

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
