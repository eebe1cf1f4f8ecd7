// Package transfer sends packages of a cache to a place that many machines share, and gets them
// back: for CI whose runners begin with nothing.
//
//	remote := transfer.InBucket(bucket)
//	wanted := store.PackageSpecs(store.LockedBy(locks))
//	pushed, err := transfer.Push(ctx, installer, remote, wanted)
//
//	// on another machine:
//	installer.Fetcher.Source = &transfer.Source{Remote: remote, Wanted: wanted}
//	pulled, err := transfer.Pull(ctx, installer)
//
// # What a remote has
//
// There is an archive for each package, under a name that its h1 is a part of: see [Name]. Lock
// files have that hash, so that they say which archive is meant, and whether it is what it should
// be; nothing else in the remote needs to be read or trusted. There is no list that publishers
// would have to change together: an archive comes into being in one step and never changes, any
// number of machines may push and pull at the same time, and what is deleted is sent again by the
// next push.
//
// A cache has packages unpacked, so the archive is a new one: the same files, sorted, with no
// times. Its zh is another one than that of the publisher's archive, and no lock file ever has it;
// the h1 is the same. A package whose lock entry has no h1 that fits can't be verified after it was
// pulled, and is not pushed.
//
// Packages are fetched by an Installer and its Fetcher, with all their checks, and a policy if
// there is one. They bring no signatures.
package transfer

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
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
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
	return root + "/" + layout.UnpackedPath(n.Provider, n.Version, n.Platform) + "/" + digest + ".zip", nil
}

// root begins all keys. Its number changes with the layout.
const root = "tfdeps-1"

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
var ErrAbsent = errors.New("the package isn't there")

// ErrReadOnly says that nothing can be pushed to a remote.
var ErrReadOnly = errors.New("packages can only be pulled from a web server: push them to the bucket or the registry behind it")

// MissingError says that a remote has no package that a lock file allows. It matches ErrAbsent and
// getproviders.ErrPlatformMissing.
type MissingError struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Remote   string // as Remote.String names it
	// NotRecorded: the lock file has no h1, so that it can't be known which package is meant.
	NotRecorded bool
}

// Error implements error.
func (e *MissingError) Error() string {
	if e.NotRecorded {
		return fmt.Sprintf("the lock file has no h1 hash of %s v%s, by which it would be found in %s", e.Provider, e.Version, e.Remote)
	}
	return fmt.Sprintf("%s doesn't have %s v%s for %s with a hash of the lock file", e.Remote, e.Provider, e.Version, e.Platform)
}

// Code is "platform_missing".
func (e *MissingError) Code() string { return "platform_missing" }

// Is reports which of the errors that callers branch on it is.
func (e *MissingError) Is(target error) bool {
	return target == ErrAbsent || target == getproviders.ErrPlatformMissing || target == getproviders.ErrNotFound
}

// names are those that a package may have: one for each h1 of the lock file, which may be of other platforms.
func names(w getproviders.PackageSpec, plat getproviders.Platform) (all []Name) {
	for _, h := range resolve.OfScheme(w.Hashes, hashing.H1) {
		all = append(all, Name{w.Provider, w.Version, plat, h})
	}
	return all
}
