package getproviders

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// What callers branch on, with errors.Is. The concrete errors of this package
// match one of these each and carry details as data. They have a method
// Code() string, by which programs name them (see [CodeOf]), and where there is a
// remedy, a method Hint() string for it, in words that can follow the error.
var (
	// ErrNotFound: what was asked for isn't there. The next three are kinds of it.
	ErrNotFound = errors.New("not found")
	// ErrProviderNotFound: the source answered, and doesn't have the provider.
	ErrProviderNotFound error = &kindError{"provider not found", ErrNotFound}
	// ErrVersionNotFound: the source has the provider, but not this version.
	ErrVersionNotFound error = &kindError{"provider version not found", ErrNotFound}
	// ErrPlatformMissing: the source has the version, for other platforms only.
	ErrPlatformMissing error = &kindError{"no package for this platform", ErrNotFound}
	// ErrNoMatchingVersion: the source has versions, and none that the constraints allow.
	ErrNoMatchingVersion = errors.New("no version meets the constraints")
	// ErrProtocol: the product can't talk to this version of the provider.
	ErrProtocol = errors.New("incompatible provider protocol")
	// ErrUnauthorized: a server wants credentials, or others. It is that of package hosts.
	ErrUnauthorized = hosts.ErrUnauthorized
	// ErrUnreachable: the source gave no answer, or none that makes sense.
	ErrUnreachable = errors.New("source unreachable or failing")
	// ErrAuthentication: a package isn't what its publisher signed.
	ErrAuthentication = errors.New("package is not authentic")
)

// kindError is an error to branch on that is a kind of another one.
type kindError struct {
	text string
	of   error
}

// Error implements error.
func (e *kindError) Error() string { return e.text }

// Unwrap returns what the error is a kind of.
func (e *kindError) Unwrap() error { return e.of }

// coded is an error with a name for programs.
type coded interface {
	error
	Code() string
}

// CodeOf returns the code of an error, or of the first that it wraps that has one:
// "version_not_found", "unauthorized", "checksum_mismatch". "": there is none. Codes
// don't change; texts may.
func CodeOf(err error) string {
	if found, ok := errors.AsType[coded](err); ok {
		return found.Code()
	}
	return ""
}

// SplitErrors takes apart what [errors.Join] put together, at any depth, in order:
// each result is about one thing. An error of this module is one, although it may
// have several causes. Of nil there are none.
func SplitErrors(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if _, whole := err.(interface{ Code() string }); !ok || whole {
		return []error{err}
	}
	var parts []error
	for _, part := range joined.Unwrap() {
		parts = append(parts, SplitErrors(part)...)
	}
	return parts
}

// ProviderNotFoundError says that a source has no such provider. It matches
// ErrProviderNotFound.
type ProviderNotFoundError struct {
	Provider Provider
	Source   string // as Source.Describe names it
	Advice   string // why the source may have been asked in vain; "" if nothing is known
}

// Error implements error. Of registries it is Terraform's sentence, which programs
// look for.
func (e *ProviderNotFoundError) Error() string {
	source := e.Source
	if e.FromRegistry() {
		source = "provider " + source
	}
	return fmt.Sprintf("%s does not have a provider named %s", source, e.Provider)
}

// FromRegistry reports whether a registry was asked, not a mirror.
func (e *ProviderNotFoundError) FromRegistry() bool { return strings.HasPrefix(e.Source, "registry ") }

// Code is "provider_not_found".
func (e *ProviderNotFoundError) Code() string { return "provider_not_found" }

// Unwrap returns ErrProviderNotFound.
func (e *ProviderNotFoundError) Unwrap() error { return ErrProviderNotFound }

// Hint says what may be wrong.
func (e *ProviderNotFoundError) Hint() string { return e.Advice }

// VersionNotFoundError says that a source has the provider in other versions
// only. It matches ErrVersionNotFound.
type VersionNotFoundError struct {
	Provider Provider
	Version  Version
	Source   string  // as Source.Describe names it
	Newest   Version // that the source has; zero if it has none
}

// Error implements error.
func (e *VersionNotFoundError) Error() string {
	return fmt.Sprintf("%s does not have version %s of provider %s", e.Source, e.Version, e.Provider)
}

// Code is "version_not_found".
func (e *VersionNotFoundError) Code() string { return "version_not_found" }

// Unwrap returns ErrVersionNotFound.
func (e *VersionNotFoundError) Unwrap() error { return ErrVersionNotFound }

// Hint names the newest version there is.
func (e *VersionNotFoundError) Hint() string {
	if e.Newest == (Version{}) {
		return ""
	}
	return fmt.Sprintf("the newest version there is %s", e.Newest)
}

// PlatformMissingError says that a version of a provider has no package for a
// platform. It matches ErrPlatformMissing.
type PlatformMissingError struct {
	Provider Provider
	Version  Version
	Platform Platform
	Source   string // as Source.Describe names it

	// Platforms are those that the version does have packages for, sorted;
	// empty if the source doesn't tell.
	Platforms []Platform
	// Newest is the newest other version with a package for Platform, a
	// release if there is one; zero if there is none, or the source doesn't tell.
	Newest Version
	// Nowhere: no version that the source has is for Platform.
	Nowhere bool
}

// Error implements error.
func (e *PlatformMissingError) Error() string {
	return fmt.Sprintf("provider %s v%s does not have a package available for %s in %s", e.Provider, e.Version, e.Platform, e.Source)
}

// Code is "platform_missing".
func (e *PlatformMissingError) Code() string { return "platform_missing" }

// Unwrap returns ErrPlatformMissing.
func (e *PlatformMissingError) Unwrap() error { return ErrPlatformMissing }

// Hint says which platforms and which other version there are.
func (e *PlatformMissingError) Hint() string {
	var parts []string
	if len(e.Platforms) > 0 {
		parts = append(parts, fmt.Sprintf("version %s exists for %s", e.Version, joinText(e.Platforms)))
	}
	if e.Newest != (Version{}) {
		parts = append(parts, fmt.Sprintf("the newest version with a package for %s is %s", e.Platform, e.Newest))
	}
	if e.Nowhere {
		parts = append(parts, fmt.Sprintf("no version has a package for %s", e.Platform))
	}
	return strings.Join(parts, "; ")
}

// ProtocolError says that a version of a provider speaks no plugin protocol
// that the product speaks. It matches ErrProtocol.
type ProtocolError struct {
	Provider  Provider
	Version   Version
	Protocols []string // that the version speaks, as its registry writes them
	Product   Product
	// Compatible is the newest version that the product can talk to, a release
	// if there is one; zero if none is known.
	Compatible Version
}

// Error implements error.
func (e *ProtocolError) Error() string {
	product := strings.TrimSpace(e.Product.OrDefault().Name + " " + e.Product.Version)
	return fmt.Sprintf("provider %s v%s is not compatible with %s: it speaks plugin protocol %s, not 5 or 6",
		e.Provider, e.Version, product, strings.Join(e.Protocols, ", "))
}

// Code is "incompatible_protocol".
func (e *ProtocolError) Code() string { return "incompatible_protocol" }

// Is reports whether target is ErrProtocol.
func (e *ProtocolError) Is(target error) bool { return target == ErrProtocol }

// Hint names a version that works, with the constraint that selects it.
func (e *ProtocolError) Hint() string {
	switch {
	case e.Compatible == (Version{}):
		return fmt.Sprintf("no compatible version of %s is known: use another version of the program, or ask the provider's publisher", e.Provider)
	case e.Compatible.Compare(e.Version) < 0:
		return fmt.Sprintf("downgrade to %s or earlier: version = %q", e.Compatible, e.Compatible)
	default:
		return fmt.Sprintf("version %s is the latest compatible one: version = %q", e.Compatible, e.Compatible)
	}
}

// joinText joins values with commas.
func joinText[T fmt.Stringer](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return strings.Join(texts, ", ")
}

// newestVersion chooses the version that a hint names: the newest release, or
// the newest of all where there is no release; of none, the zero Version.
func newestVersion(versions []Version) Version {
	if v, ok := (Constraints{}).Newest(versions); ok {
		return v
	}
	if len(versions) == 0 {
		return Version{}
	}
	return slices.MaxFunc(versions, Version.Compare)
}

// sortPlatforms sorts in place and drops duplicates.
func sortPlatforms(platforms []Platform) []Platform {
	slices.SortFunc(platforms, Platform.Compare)
	return slices.Compact(platforms)
}
