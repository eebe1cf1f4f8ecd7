// Package transfer sends packages of a cache to a place that many machines share, and gets them
// back: for CI whose runners begin with nothing.
//
//	remote := transfer.InBucket(bucket)
//	wanted := store.PackageSpecs(locks)
//	pushed, err := transfer.Push(ctx, installer, remote, wanted)
//
//	// on another machine:
//	installer.Fetcher.Source = &transfer.Source{Remote: remote, Wanted: wanted}
//	pulled, err := transfer.Pull(ctx, installer)
//
// # What a remote has
//
// There is an archive for each package, under a name that its h1 is a part of: see [remote.Name]. Lock
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
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// ErrReadOnly says that nothing can be pushed to a remote.
var ErrReadOnly = errors.New("packages can only be pulled from a web server: push them to the bucket or the registry behind it")

// errNotRecorded says that the lock file has no h1, so that it can't be known which package of a remote is meant.
var errNotRecorded error = &getproviders.Fault{Kind: remote.ErrAbsent, Err: errors.New("the lock file has no h1 hash")}

// names are those that a package may have: one for each h1 of the lock file, which may be of other platforms.
func names(w getproviders.PackageSpec, plat getproviders.Platform) (all []remote.Name) {
	for _, h := range resolve.OfScheme(w.Hashes, hashing.H1) {
		all = append(all, remote.Name{Provider: w.Provider, Version: w.Version, Platform: plat, H1: h})
	}
	return all
}
