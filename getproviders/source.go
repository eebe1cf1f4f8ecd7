package getproviders

import (
	"context"
	"fmt"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Source knows which packages of providers exist and where they are. A Source
// is safe for many goroutines. Failures match one of the Err values of this
// package under errors.Is where a caller has reason to branch; when ctx ends,
// the error is its cause.
//
// A Source may be able to do more, and save requests by it: its [Description] has
// functions for that. A Source that stands on another one passes on the Description of
// that one, with the changes that it makes.
type Source interface {
	// Versions lists the versions of a provider, each once, in no particular
	// order, for all platforms. ErrProviderNotFound if the source doesn't have
	// it.
	Versions(ctx context.Context, p Provider) (Available, error)

	// Package describes the package of one version for one platform.
	// ErrPlatformMissing if there is none for this platform,
	// ErrVersionNotFound if there is no such version.
	Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error)

	// Describe names the source for this provider, and says what else it can do. It
	// asks for nothing.
	Describe(p Provider) Description
}

// Available is a Source's answer about the versions of a provider.
type Available struct {
	Versions []Version
	Warnings []string // what the registry wants its users to read
	// Details returns what the list tells about one of the versions beside its number. It asks for
	// nothing, and is safe for many goroutines. nil: the list tells nothing.
	// What is empty isn't told: the versions of the plugin protocol, such as "5.0", and platforms. They must not be changed.
	// registry is FromRegistry, as a Package has it.
	Details func(Version) (protocols []string, platforms []Platform, registry bool)
}

// Description says what a source is for one provider, and what it can do beside
// listing versions and describing packages. Its functions take this provider again; each
// may be nil. Their errors are those of Package.
type Description struct {
	Name string // for people: a host, a URL, a directory

	// SourceURL returns what Package would return as the Package's SourceURL. It may
	// list versions, and asks for nothing else; where that isn't enough, it
	// returns "". A caller that keeps packages, and records the SourceURL of each, can
	// tell by it whether one that is there is the one that Package would describe
	// now. A URL that is wrong in rare cases, because a source lists what it then
	// lacks, is one that no package has been recorded with.
	SourceURL func(ctx context.Context, p Provider, v Version, plat Platform) (string, error)

	// Platforms returns those that there are packages of a version for, sorted. None
	// means that the source doesn't tell: the protocol of registries doesn't oblige
	// them to.
	Platforms func(ctx context.Context, p Provider, v Version) ([]Platform, error)

	// Suggest returns the address that was probably meant by p, where that one was taken for
	// granted, because a configuration names none, and turned out not to exist. Any
	// failure means that there is no suggestion.
	Suggest func(ctx context.Context, p Provider) (Provider, bool)

	// ExplainMissing finds out, by a request if need be, why a source that was asked doesn't
	// have the provider: what it is may be no registry. "" if nothing is found. It is
	// for callers that have failed already.
	ExplainMissing func(ctx context.Context, p Provider) string

	// Unasked are the sources that may not be asked, such as an [Offline], each
	// as an error that has no version. What only they know is not among what Versions
	// lists.
	Unasked []*NotCachedError

	// owns reports whether a SourceURL is one of this source, without a request.
	owns func(ctx context.Context, p Provider, sourceURL string) bool
}

// NotCachedError says that a package isn't on this machine, and that the source
// that may have it can't be asked. It matches hosts.ErrOffline, and
// ErrVersionNotFound or, where any version would do, ErrProviderNotFound.
type NotCachedError struct {
	Provider Provider
	Version  Version // zero: no version is there
	Source   string  // as Source.Describe names it
	Bytes    int64   // the size of the archive; 0: not known
	By       string  // what forbids requests, such as "-offline"
	Damaged  string  // a directory with a package of the version that isn't the one that the lock file records; "": there is none
}

// Error implements error.
func (e *NotCachedError) Error() string {
	what := e.Provider.String()
	if e.Version != (Version{}) {
		what += " " + e.Version.String()
	}
	return fmt.Sprintf("%s is not on this machine, and %s allows no request to the %s", what, e.By, e.Source)
}

// code is "not_cached".
func (e *NotCachedError) code() string { return "not_cached" }

// Is reports which of the errors that callers branch on it is.
func (e *NotCachedError) Is(target error) bool {
	if e.Version == (Version{}) {
		return target == hosts.ErrOffline || target == ErrProviderNotFound || target == ErrNotFound
	}
	return target == hosts.ErrOffline || target == ErrVersionNotFound || target == ErrNotFound
}
