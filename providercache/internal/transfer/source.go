package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/remote"
)

// Source has the packages of a Remote that lock files select, for an Installer to fetch. Where a
// lock file has one h1, nothing is asked before the archive itself; otherwise the remote is asked
// which of them is for the platform. Errors match remote.ErrAbsent, or are those of otherContent and of the
// Remote. It is safe for many goroutines, and not to be copied after its first use.
type Source struct {
	Remote remote.Remote
	// Wanted are the packages, each with the hashes of its lock entry. Others aren't there.
	Wanted []getproviders.PackageSpec

	places par.Memo[place, string] // URLs of archives
}

var _ getproviders.Source = (*Source)(nil)

// Versions implements getproviders.Source: the versions that are wanted.
func (s *Source) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	var found getproviders.Available
	for _, w := range s.Wanted {
		if w.Provider == p {
			found.Versions = append(found.Versions, w.Version)
		}
	}
	if len(found.Versions) == 0 {
		return found, getproviders.Subject{Source: s.Remote.String(), Provider: p}.Missing()
	}
	return found, nil
}

// Package implements getproviders.Source. The error may come only when the location is opened: there it is the same.
func (s *Source) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	// What a mirror in the same place has is another source.
	pkg := getproviders.Package{Provider: p, Version: v, Platform: plat, Source: s.Remote.String(), SourceURL: s.Remote.String() + "/" + remote.Root}
	if in, ok := s.Remote.(inBucket); ok {
		pkg.SourceURL = buckets.SourceURL(in.bucket, "/"+remote.Root)
	}
	missing := &getproviders.Fault{
		Code: "platform_missing", Kind: remote.ErrAbsent, Err: fmt.Errorf("%s doesn't have %s v%s for %s with a hash of the lock file", s.Remote, p, v, plat),
	}
	i := slices.IndexFunc(s.Wanted, func(w getproviders.PackageSpec) bool { return w.Provider == p && w.Version == v })
	if i < 0 {
		return pkg, missing
	}
	candidates := names(s.Wanted[i], plat)
	if len(candidates) == 0 {
		missing.Kind, missing.Err = errNotRecorded, fmt.Errorf("the lock file has no h1 hash of %s v%s, by which it would be found in %s", p, v, s.Remote)
		return pkg, missing
	}
	for _, n := range candidates {
		at, err := s.Remote.At(n)
		if err != nil {
			return pkg, withURL(err, s.Remote.String())
		}
		if len(candidates) > 1 {
			there, err := at.Exists(ctx)
			if err != nil {
				return pkg, withURL(err, at.String())
			}
			if !there {
				continue
			}
		}
		url, err := s.places.Do(ctx, place{p, v, plat}, func(context.Context) (string, error) { return at.String(), nil })
		if err != nil {
			return pkg, err
		}
		pkg.Location = archive{at, missing}
		pkg.Trust = getproviders.Trust{Authenticator: content{n, url}}
		return pkg, nil
	}
	return pkg, missing
}

// Describe implements getproviders.Source.
func (s *Source) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: s.Remote.String()}
}

// archive is an archive of a remote, which may not have it.
type archive struct {
	remote.Archive
	missing error
}

// Open implements getproviders.Archive.
func (a archive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	opened, err := a.Archive.Open(ctx, offset)
	if errors.Is(err, remote.ErrAbsent) {
		err = a.missing
	}
	return opened, err
}

// content authenticates a package by its h1, and by nothing else: what it says of a package is no signature.
type content struct {
	name remote.Name
	url  string
}

// Authenticate implements getproviders.Authenticator.
func (c content) Authenticate(d getproviders.Digests) (getproviders.AuthenticationResult, error) {
	if d.H1 == c.name.H1 || d.H1Archive == c.name.H1 {
		return getproviders.AuthenticationResult{}, nil
	}
	_, err := getproviders.AnyHash{c.name.H1}.Authenticate(d)
	return getproviders.AuthenticationResult{}, otherContent(c.url, err)
}

// otherContent says that an archive of a remote isn't the package that its name says; err is what it has in place of it.
func otherContent(url string, err error) error {
	return &getproviders.Fault{
		Code: "checksum_mismatch", Err: fmt.Errorf("%s has other content than the lock file says: %w", url, err),
		Hint: "find out who changed it, and delete it there: the next push of a machine that has the package sends it again",
	}
}
