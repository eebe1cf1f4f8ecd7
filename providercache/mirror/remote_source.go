package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// RemoteSource returns a Source of the wanted packages of a Remote, each with the hashes of its lock
// entry, for [Pull]. It has no other packages. If a lock entry has one h1, the archive is requested
// directly; otherwise the remote is asked which h1 is the platform's. It is safe for concurrent use.
func RemoteSource(from Remote, wanted []getproviders.PackageSpec) getproviders.Source {
	return &remoteSource{remote: from, wanted: wanted}
}

type remoteSource struct {
	remote Remote
	wanted []getproviders.PackageSpec
	urls   sync.Map // of archives, by a remote.Name without an H1
}

// Versions implements getproviders.Source: it returns the wanted versions.
func (s *remoteSource) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	var found getproviders.Available
	for _, w := range s.wanted {
		if w.Provider == p {
			found.Versions = append(found.Versions, w.Version)
		}
	}
	if len(found.Versions) == 0 {
		return found, getproviders.Subject{Source: s.remote.String(), Provider: p}.Missing()
	}
	return found, nil
}

// Package implements getproviders.Source. Opening the location may return the same missing error.
func (s *remoteSource) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	// A mirror in the same bucket is another source.
	pkg := getproviders.Package{Provider: p, Version: v, Platform: plat, Source: s.remote.String(), SourceURL: s.remote.String() + "/" + remote.Root}
	if in, ok := s.remote.(bucketRemote); ok {
		pkg.SourceURL = buckets.SourceURL(in.bucket, "/"+remote.Root)
	}
	missing := &getproviders.Fault{
		Code: "platform_missing", Kind: remote.ErrAbsent, Err: fmt.Errorf("%s doesn't have %s v%s for %s with a hash of the lock file", s.remote, p, v, plat),
	}
	i := slices.IndexFunc(s.wanted, func(w getproviders.PackageSpec) bool { return w.Provider == p && w.Version == v })
	if i < 0 {
		return pkg, missing
	}
	candidates := resolve.OfScheme(s.wanted[i].Hashes, hashing.H1)
	if len(candidates) == 0 {
		missing.Kind, missing.Err = errNotRecorded, fmt.Errorf("the lock file has no h1 hash of %s v%s, by which it would be found in %s", p, v, s.remote)
		return pkg, missing
	}
	key := remote.Name{Provider: p, Version: v, Platform: plat}
	for _, h1 := range candidates {
		name := key
		name.H1 = h1
		at, err := s.remote.At(name)
		if err != nil {
			return pkg, wrapped.About(s.remote.String(), err)
		}
		if len(candidates) > 1 {
			there, err := at.Exists(ctx)
			if err != nil {
				return pkg, wrapped.About(at.String(), err)
			}
			if !there {
				continue
			}
		}
		s.urls.Store(key, at.String())
		pkg.Location = remoteArchive{at, missing}
		pkg.Trust = getproviders.Trust{Authenticator: sameH1{h1, at.String()}}
		return pkg, nil
	}
	return pkg, missing
}

// Describe implements getproviders.Source.
func (s *remoteSource) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: s.remote.String()}
}

// remoteArchive is an archive that the remote may not have.
type remoteArchive struct {
	remote.Archive
	missing error
}

// Open implements getproviders.Archive.
func (a remoteArchive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	opened, err := a.Archive.Open(ctx, offset)
	if errors.Is(err, remote.ErrAbsent) {
		err = a.missing
	}
	return opened, err
}

// sameH1 authenticates a package by its h1 alone; its result names no signature.
type sameH1 struct {
	h1  getproviders.Hash
	url string
}

// Authenticate implements getproviders.Authenticator.
func (c sameH1) Authenticate(d getproviders.Digests) (getproviders.AuthenticationResult, error) {
	if d.H1 == c.h1 || d.H1Archive == c.h1 {
		return getproviders.AuthenticationResult{}, nil
	}
	_, err := getproviders.AnyHash{c.h1}.Authenticate(d)
	return getproviders.AuthenticationResult{}, otherContent(c.url, err)
}

// otherContent returns the error for an archive of a remote that has
// the name of another package; err describes its content.
func otherContent(url string, err error) error {
	return &getproviders.Fault{
		Code: "checksum_mismatch", Err: fmt.Errorf("%s has other content than the lock file says: %w", url, err),
		Hint: "find out who changed it, and delete it there: the next push of a machine that has the package sends it again",
	}
}
