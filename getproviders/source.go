package getproviders

import "context"

// Source knows which packages of providers exist and where they are. A Source
// is safe for many goroutines. Failures match one of the Err values of this
// package under errors.Is where a caller has reason to branch; when ctx ends,
// the error is its cause.
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
}

// Suggester is a Source that may know under which address a provider is to be
// found whose address, taken for granted because a configuration names none,
// turned out not to exist.
type Suggester interface {
	// Suggest returns the address that was probably meant by p. Any failure
	// means that there is no suggestion.
	Suggest(ctx context.Context, p Provider) (Provider, bool)
}
