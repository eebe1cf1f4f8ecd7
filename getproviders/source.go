package getproviders

import (
	"context"
	"slices"
)

// Source knows which packages of providers exist and where they are. A Source
// is safe for many goroutines. Failures match one of the Err values of this
// package under errors.Is where a caller has reason to branch; when ctx ends,
// the error is its cause.
//
// A Source may be able to do more, and save requests by it: see [SourceURLer],
// [PlatformLister], [Suggester] and [OfflineSource]. A Source that stands on another
// one keeps what that one can do by a method
//
//	Unwrap() Source
//
// as with [net/http.ResponseController]. It has the methods itself whose answers
// differ from those of the Source below. Callers use [SourceURLOf], [PlatformsOf],
// [SuggestionFor] and [UnaskedSources], which look through all that is unwrapped.
type Source interface {
	// Versions lists the versions of a provider, each once, in no particular
	// order, for all platforms. ErrProviderNotFound if the source doesn't have
	// it.
	Versions(ctx context.Context, p Provider) (Available, error)

	// Package describes the package of one version for one platform.
	// ErrPlatformMissing if there is none for this platform,
	// ErrVersionNotFound if there is no such version.
	Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error)

	// Describe names the source for people, for this provider: a host, a URL,
	// a directory.
	Describe(p Provider) string
}

// Available is a Source's answer about the versions of a provider.
type Available struct {
	Versions []Version
	Warnings []string // what the registry wants its users to read
	// Details returns what the list tells about one of the versions beside its number. It asks for
	// nothing, and is safe for many goroutines. nil: the list tells nothing.
	Details func(Version) VersionDetails
}

// VersionDetails are hints that a list of versions has for each of them. What is empty isn't told.
// It must not be changed.
type VersionDetails struct {
	Protocols []string // versions of the plugin protocol: "5.0"
	Platforms []Platform
}

// SourceURLer is a Source that can say where a package would come from without
// asking for the package. A caller that keeps packages, and records the SourceURL of
// each, can tell by it whether one that is there is the one that Package would
// describe now.
type SourceURLer interface {
	// SourceURL returns what Package would return as the Package's SourceURL. It may
	// list versions, and asks for nothing else; where that isn't enough, it
	// returns "". The errors are those of Package. A URL that is wrong in
	// rare cases, because a source lists what it then lacks, is one that no
	// package has been recorded with.
	SourceURL(ctx context.Context, p Provider, v Version, plat Platform) (string, error)
}

// PlatformLister is a Source that knows for which platforms there are packages
// of a version.
type PlatformLister interface {
	// Platforms returns them sorted. None means that the source doesn't tell:
	// the protocol of registries doesn't oblige them to. Errors are those of
	// Package.
	Platforms(ctx context.Context, p Provider, v Version) ([]Platform, error)
}

// Suggester is a Source that may know under which address a provider is to be
// found whose address, taken for granted because a configuration names none,
// turned out not to exist.
type Suggester interface {
	// Suggest returns the address that was probably meant by p. Any failure
	// means that there is no suggestion.
	Suggest(ctx context.Context, p Provider) (Provider, bool)
}

// unasker is a Source that may not ask others for all that they know.
type unasker interface {
	Unasked(p Provider) []*NotCachedError
}

// ability finds the first of a source, and of what is unwrapped from it, that is
// a T.
func ability[T any](s Source) (found T, ok bool) {
	for s != nil {
		if found, ok = s.(T); ok {
			return found, true
		}
		wrapper, isWrapper := s.(interface{ Unwrap() Source })
		if !isWrapper {
			break
		}
		s = wrapper.Unwrap()
	}
	return found, false
}

// SourceURLOf asks a source that may be a [SourceURLer]; of one that isn't, the
// answer is "".
func SourceURLOf(ctx context.Context, s Source, p Provider, v Version, plat Platform) (string, error) {
	if able, ok := ability[SourceURLer](s); ok {
		return able.SourceURL(ctx, p, v, plat)
	}
	return "", nil
}

// listedSourceURL is SourceURLOf with an error where a source that isn't a
// SourceURLer doesn't list the version.
func listedSourceURL(ctx context.Context, s Source, p Provider, v Version, plat Platform) (string, error) {
	if able, ok := ability[SourceURLer](s); ok {
		return able.SourceURL(ctx, p, v, plat)
	}
	available, err := s.Versions(ctx, p)
	if err == nil && !slices.Contains(available.Versions, v) {
		err = &VersionNotFoundError{Provider: p, Version: v, Source: s.Describe(p), Newest: newestVersion(available.Versions)}
	}
	return "", err
}

// PlatformsOf asks a source that may be a [PlatformLister]; one that isn't
// doesn't tell.
func PlatformsOf(ctx context.Context, s Source, p Provider, v Version) ([]Platform, error) {
	if able, ok := ability[PlatformLister](s); ok {
		return able.Platforms(ctx, p, v)
	}
	return nil, nil
}

// SuggestionFor asks a source that may be a [Suggester]; one that isn't has no
// suggestion.
func SuggestionFor(ctx context.Context, s Source, p Provider) (Provider, bool) {
	if able, ok := ability[Suggester](s); ok {
		return able.Suggest(ctx, p)
	}
	return Provider{}, false
}

// UnaskedSources returns the sources for a provider that may not be asked, such as
// an [OfflineSource], each as an error that has no version. What only they know is
// not among what Versions lists.
func UnaskedSources(s Source, p Provider) []*NotCachedError {
	if able, ok := ability[unasker](s); ok {
		return able.Unasked(p)
	}
	return nil
}
