package getproviders

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// What callers branch on, with errors.Is. The concrete errors of this package
// match one of these each; most are a [Fault].
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

// Missing says that the Source, as Source.Describe names it, doesn't have the package for the Platform, or the Version if there is no
// Platform, or the Provider if there is no Version. Platforms, Newest and Nowhere say what there is instead. It matches
// ErrPlatformMissing, ErrVersionNotFound or ErrProviderNotFound.
func (s Subject) Missing() *Fault {
	failed := &Fault{Subject: s}
	switch {
	case s.Platform != (Platform{}):
		failed.Code, failed.Kind, failed.Hint = "platform_missing", ErrPlatformMissing, s.elsewhere()
		failed.Err = fmt.Errorf("provider %s v%s does not have a package available for %s in %s", s.Provider, s.Version, s.Platform, s.Source)
	case s.Version != (Version{}):
		failed.Code, failed.Kind = "version_not_found", ErrVersionNotFound
		failed.Err = fmt.Errorf("%s does not have version %s of provider %s", s.Source, s.Version, s.Provider)
		if s.Newest != (Version{}) {
			failed.Hint = fmt.Sprintf("the newest version there is %s", s.Newest)
		}
	default:
		failed.Code, failed.Kind = "provider_not_found", ErrProviderNotFound
		failed.Err = fmt.Errorf("%s does not have a provider named %s", s.Source, s.Provider)
	}
	return failed
}

// elsewhere says which packages there are for other platforms or in other versions.
func (s Subject) elsewhere() string {
	var hints []string
	if len(s.Platforms) > 0 {
		hints = append(hints, fmt.Sprintf("version %s exists for %s", s.Version, joinText(s.Platforms)))
	}
	if s.Newest != (Version{}) {
		hints = append(hints, fmt.Sprintf("the newest version with a package for %s is %s", s.Platform, s.Newest))
	}
	if s.Nowhere {
		hints = append(hints, fmt.Sprintf("no version has a package for %s", s.Platform))
	}
	return strings.Join(hints, "; ")
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

// checksumError says that a package has none of the checksums that it should
// have. It matches ErrAuthentication.
type checksumError struct {
	expected []Hash // one of these
	found    []Hash // what the package has
}

// Error implements error.
func (e *checksumError) Error() string {
	if !slices.ContainsFunc(e.expected, Hash.Supported) {
		return fmt.Sprintf("no checksum of a known scheme (h1 or zh) to check the package by, only: %s", joinHashes(e.expected))
	}
	expected := slices.DeleteFunc(slices.Clone(e.expected), func(h Hash) bool { return !h.Supported() })
	if len(expected) == 1 { // then its scheme is the only one of interest
		for _, found := range e.found {
			if found.Scheme() == expected[0].Scheme() {
				return fmt.Sprintf("the package has checksum %s, expected %s", found, expected[0].printable())
			}
		}
	}
	return fmt.Sprintf("the package has checksum %s, expected any of: %s", joinHashes(e.found), joinHashes(expected))
}

// code is "checksum_mismatch".
func (e *checksumError) code() string { return "checksum_mismatch" }

// Is reports whether target is ErrAuthentication.
func (e *checksumError) Is(target error) bool { return target == ErrAuthentication }

// Expects reports whether a hash of a scheme would do.
func (e *checksumError) Expects(scheme string) bool {
	return slices.ContainsFunc(e.expected, func(h Hash) bool { return h.Scheme() == scheme })
}

// hint says what may be the cause.
func (e *checksumError) hint() string {
	if !slices.ContainsFunc(e.expected, Hash.Supported) {
		return "a newer version may know these; else tell those who run the source to name an h1 or zh checksum"
	}
	return "the package was damaged or replaced on its way, or where it is kept; if it happens again, tell those who run the source"
}

// otherChecksum says that a checksum list has not what is expected for an archive; found is "" if the list doesn't have
// it. advice says who can help.
func otherChecksum(fileName string, expected Hash, found, advice string) error {
	err := fmt.Errorf("the checksum list has no SHA-256 for %q, expected %s", fileName, expected)
	if found != "" { // it may be long and no hash at all
		err = fmt.Errorf("the checksum list has %.80q for %q, expected %s", found, fileName, expected)
	}
	return &Fault{Code: "checksum_list_mismatch", Kind: ErrAuthentication, Err: err, Hint: advice}
}
