// Package remote says what a place on another machine has to be, so that packages can be kept there: those of a cache, by
// their hashes, and those of a mirror that has no files, by their versions.
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

// Name is what a package is found by.
type Name struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	H1       getproviders.Hash // of its files
}

// Key is the name with slashes, such as
// "tfdeps-1/registry.terraform.io/hashicorp/random/3.6.0/linux_amd64/0123….zip": the h1 is in
// hexadecimal digits. The error says that the name isn't one of a package.
func (n Name) Key() (string, error) {
	digest, err := n.digest()
	if err != nil {
		return "", err
	}
	return Root + "/" + layout.UnpackedPath(n.Provider, n.Version, n.Platform) + "/" + digest + ".zip", nil
}

// Root begins all keys. Its number changes with the layout.
const Root = "tfdeps-1"

// Tag is the name for registries, whose tags have no slashes, such as "linux_amd64-0123…". No other
// provider or version has the h1. The platform is in it because lock files don't say of which
// platform an h1 is: without it, the package of another one would be found.
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

// Remote has archives of packages. It is safe for many goroutines and processes.
type Remote interface {
	// At returns the archive of a package, whether it exists or not. Nothing is asked. The error says that the name
	// isn't one of a package.
	At(n Name) (Archive, error)
	// String names the remote for people.
	String() string
}

// Archive is an archive of a remote, by its URL without secrets. Open returns ErrAbsent if it doesn't exist.
type Archive interface {
	getproviders.Archive
	// Exists reports whether the remote has it.
	Exists(context.Context) (bool, error)
	// Put makes it, in one step. One that exists may stay as it is.
	Put(ctx context.Context, content *io.SectionReader) error
}

// ErrAbsent says that a remote doesn't have a package.
var ErrAbsent error = &getproviders.Fault{Kind: getproviders.ErrPlatformMissing, Err: errors.New("the package isn't there")}

// Releases is where archives are published that has no files, but versions with archives for platforms: a registry of
// container images, as package internal/oci has it. It is safe for many goroutines.
type Releases interface {
	// Published returns what there is of a version, without reading archives; nothing if there is no such version. signed:
	// there is something that its publisher has signed.
	Published(ctx context.Context, p getproviders.Provider, v getproviders.Version) (archives []Release, signed bool, err error)
	// Publish adds archives to a version, all or none. An archive that is there is never replaced by another one: that
	// is an error. What the publisher has signed comes with them, if it is true of all archives that are there then;
	// nil: it isn't known.
	Publish(ctx context.Context, p getproviders.Provider, v getproviders.Version, archives []Release, signed *getproviders.SignedDocuments) error
	// Path names a version for people.
	Path(p getproviders.Provider, v getproviders.Version) string
}

// Release is the archive of a version for a platform.
type Release struct {
	Platform getproviders.Platform
	ZH       getproviders.Hash
	H1       getproviders.Hash // of its files; "": not known
	Archive  *io.SectionReader // what is to be published
	// From is where the archive can be read. Of what is to be published, the registry may have it in another place.
	From getproviders.Location
}
