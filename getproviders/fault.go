package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Fault is an error with details for programs and people.
type Fault struct {
	Code    string // for programs, see [CodeOf]; "" means the code of Err
	Kind    error  // one of the Err values, which it matches; nil means that it matches only what Err does
	Subject        // the provider, version, platform or source in question
	Err     error  // the cause, in words
	Hint    string // a remedy, in words that can follow the error; "" if none is known
}

// Subject names the providers, versions and sources that a Fault concerns. Fields that don't apply are zero.
type Subject struct {
	Provider Provider
	Version  Version
	Platform Platform
	Step     string         // of an installation: "query", "fetch"
	Part     string         // of a provider's address that is wrong: "source string"
	Source   string         // the source without the provider, as Source.Describe names it
	Registry bool           // Source is a registry
	Host     hosts.Hostname // the host that refused a request
	URL      string         // of the web page that a server sent in place of an archive
	// Protocols are the plugin protocols of a version, none of which the product speaks.
	Protocols []string
	// Providers are several providers that fail for the same reason.
	Providers []Provider
	// Platforms are those for which Source has packages of Version, sorted, if it has none for Platform; empty if unknown.
	Platforms []Platform
	// Hashes are the expected hashes of a package that has none of them.
	Hashes []Hash
	// Newest is the newest other version with a package for Platform, preferably a release; zero if there is no such version or
	// it is unknown.
	Newest Version
	// Nowhere says that Source has no version with a package for Platform.
	Nowhere bool
	// Listed says that Source lists Version for Platform, and has no description of the package.
	Listed bool
}

// Error implements error. With a Step or a Part, the text begins with the Subject.
func (f *Fault) Error() string {
	text := f.Err.Error()
	if f.Part != "" {
		return "invalid provider " + f.Part + ": " + text
	}
	if f.Step == "" {
		return text
	}
	if f.Platform != (Platform{}) {
		text = f.Platform.String() + ": " + text
	}
	name := f.Provider.String()
	if !f.Version.IsZero() {
		name += " v" + f.Version.String()
	}
	return name + ": " + doing[f.Step] + text
}

// code returns the code of the Fault, of its cause, or of its step: "failed_unpack".
func (f *Fault) code() string {
	if f.Code != "" || f.Step == "" {
		return f.Code
	}
	return cmp.Or(CodeOf(f.Err), "failed_"+strings.ReplaceAll(f.Step, "-", "_"))
}

// Unwrap returns Kind and Err.
func (f *Fault) Unwrap() []error {
	if f.Kind == nil {
		return []error{f.Err}
	}
	return []error{f.Kind, f.Err}
}

// FaultOf returns the first Fault in err whose Kind is kind, or nil.
func FaultOf(err, kind error) *Fault {
	for _, f := range wrapped.As[*Fault](err) {
		if f.Kind == kind {
			return f
		}
	}
	return nil
}

// Failure returns the first Fault in an error that names the step of an installation.
func Failure(err error) (*Fault, bool) {
	for _, f := range wrapped.As[*Fault](err) {
		if f.Step != "" {
			return f, true
		}
	}
	return nil, false
}

// vague are codes that only say where something failed.
var vague = []string{"unreachable", "request_failed", "module_package_failed"}

// CodeOf returns the code of an error, or of the first error with a code that it wraps:
// "version_not_found", "unauthorized", "failed_unpack". A code that says why something failed, such as
// "rate_limited", comes before one that only says where. It returns "" if none has a code: errors of
// contexts and of files. Codes don't change; texts may.
func CodeOf(err error) string {
	first := ""
	for _, part := range wrapped.All(err) {
		code := ""
		switch e := part.(type) {
		case interface{ code() string }:
			code = e.code()
		case interface{ Code() string }:
			code = e.Code()
		}
		if code != "" && !slices.Contains(vague, code) && !strings.HasPrefix(code, "failed_") {
			return code
		}
		first = cmp.Or(first, code)
	}
	return first
}

// HintsOf returns the hints of an error and of the errors that it wraps, outer ones first.
func HintsOf(err error) (hints []string) {
	for _, part := range wrapped.All(err) {
		hint := ""
		switch e := part.(type) {
		case *Fault:
			hint = e.Hint
		case interface{ Hint() string }:
			hint = e.Hint()
		}
		if hint != "" {
			hints = append(hints, hint)
		}
	}
	return hints
}

// SplitErrors splits an error of [errors.Join] into its parts, at any depth, in order. It doesn't
// split an error of this module, although that may have several causes. It returns nil for nil.
func SplitErrors(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	_, whole := err.(interface{ Code() string })
	if _, own := err.(interface{ code() string }); !ok || whole || own {
		return []error{err}
	}
	var parts []error
	for _, part := range joined.Unwrap() {
		parts = append(parts, SplitErrors(part)...)
	}
	return parts
}

// Errors that callers branch on, with errors.Is. Each concrete error of this package matches one of
// these; most are a [Fault].
var (
	// ErrNotFound: the source lacks the requested provider, version or package. The next three match it, too.
	ErrNotFound = errors.New("not found")
	// ErrProviderNotFound: the source answered, and doesn't have the provider.
	ErrProviderNotFound error = &Fault{Kind: ErrNotFound, Err: errors.New("provider not found")}
	// ErrVersionNotFound: the source has the provider, but not this version.
	ErrVersionNotFound error = &Fault{Kind: ErrNotFound, Err: errors.New("provider version not found")}
	// ErrPlatformMissing: the source has the version, for other platforms only.
	ErrPlatformMissing error = &Fault{Kind: ErrNotFound, Err: errors.New("no package for this platform")}
	// ErrNoMatchingVersion: the source has versions, but the constraints allow none of them.
	ErrNoMatchingVersion = errors.New("no version meets the constraints")
	// ErrProtocol: the product can't talk to this version of the provider.
	ErrProtocol = errors.New("incompatible provider protocol")
	// ErrUnauthorized: a server wants credentials, or refuses those that were sent.
	ErrUnauthorized = hosts.ErrUnauthorized
	// ErrUnreachable: the source gave no answer, or a malformed one.
	ErrUnreachable = errors.New("source unreachable or failing")
	// ErrAuthentication: a package isn't what its publisher signed.
	ErrAuthentication = errors.New("package is not authentic")
	// ErrLockMismatch: the package has none of the hashes that the lock file records.
	ErrLockMismatch = errors.New("the package is not the one that the lock file records")
	// ErrLockedVersion: the constraints don't allow the version in the lock file.
	ErrLockedVersion = errors.New("the locked version does not meet the constraints")
	// ErrNoSpace: a disk or the user's quota is full, or too small for a download.
	ErrNoSpace = errors.New("there is no space left")
	// ErrUnwritable: a directory for packages can't be written to.
	ErrUnwritable = errors.New("the directory can't be written to")
)

// doing has the words with which the message about a failed step begins.
var doing = map[string]string{
	during.Query:        "asking for available versions: ",
	during.Metadata:     "asking for the package: ",
	during.Fetch:        "fetching the package: ",
	during.Authenticate: "authenticating the package: ",
	during.Unpack:       "unpacking the package: ",
	during.Publish:      "putting the package into its place: ",
	during.Cancel:       "installation was cancelled: ",
}

// Missing returns the error of a Source that doesn't have the package for the Platform, or the Version if Platform is zero, or the
// Provider if Version is zero. Source is the name that Source.Describe returns. Platforms, Newest and Nowhere become hints. The error
// matches ErrPlatformMissing, ErrVersionNotFound or ErrProviderNotFound.
func (s Subject) Missing() *Fault {
	failed := &Fault{Subject: s}
	switch {
	case s.Listed:
		failed.Code, failed.Kind = "platform_missing", ErrPlatformMissing
		failed.Err = fmt.Errorf("provider %s v%s does not have a package available for %s in %s: the list of versions names it, but its description is missing",
			s.Provider, s.Version, s.Platform, s.Source)
		failed.Hint = "tell the provider's publisher, or those who run the server"
		if !s.Newest.IsZero() {
			failed.Hint += "; " + s.elsewhere()
		}
	case s.Platform != (Platform{}):
		failed.Code, failed.Kind, failed.Hint = "platform_missing", ErrPlatformMissing, s.elsewhere()
		failed.Err = fmt.Errorf("provider %s v%s does not have a package available for %s in %s", s.Provider, s.Version, s.Platform, s.Source)
	case !s.Version.IsZero():
		failed.Code, failed.Kind = "version_not_found", ErrVersionNotFound
		failed.Err = fmt.Errorf("%s does not have version %s of provider %s", s.Source, s.Version, s.Provider)
		if !s.Newest.IsZero() {
			failed.Hint = fmt.Sprintf("the newest version there is %s", s.Newest)
		}
	default:
		failed.Code, failed.Kind = "provider_not_found", ErrProviderNotFound
		failed.Err = fmt.Errorf("%s does not have a provider named %s", s.Source, s.Provider)
	}
	return failed
}

// elsewhere says which packages exist for other platforms or in other versions.
func (s Subject) elsewhere() string {
	var hints []string
	if len(s.Platforms) > 0 && !s.Listed {
		hints = append(hints, fmt.Sprintf("version %s exists for %s", s.Version, joined(s.Platforms, len(s.Platforms), Platform.String)))
	}
	if !s.Newest.IsZero() {
		hints = append(hints, fmt.Sprintf("the newest version with a package for %s is %s", s.Platform, s.Newest))
	}
	if s.Nowhere {
		hints = append(hints, fmt.Sprintf("no version has a package for %s", s.Platform))
	}
	return strings.Join(hints, "; ")
}

// quoted is how many values of a long list a message repeats.
const quoted = 10

// joined joins the texts of the first limit values with commas, and says how many more there are.
func joined[T any](values []T, limit int, text func(T) string) string {
	var texts []string
	for i, v := range values {
		if i == limit {
			texts = append(texts, fmt.Sprintf("and %d more", len(values)-i))
			break
		}
		texts = append(texts, text(v))
	}
	return strings.Join(texts, ", ")
}

// newestVersion returns the newest release, or the newest prerelease if versions has no release, or
// the zero Version if versions is empty.
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

// otherChecksum returns the error for a checksum list that doesn't have the expected checksum of an archive. found is
// what it has instead, or "". advice says who can help.
func otherChecksum(fileName string, expected Hash, found, advice string) error {
	err := fmt.Errorf("the checksum list has no SHA-256 for %q, expected %s", fileName, expected)
	if found != "" { // found may be long and no hash at all
		err = fmt.Errorf("the checksum list has %.80q for %q, expected %s", found, fileName, expected)
	}
	return &Fault{Code: "checksum_list_mismatch", Kind: ErrAuthentication, Err: err, Hint: advice}
}
