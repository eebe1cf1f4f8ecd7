package getproviders

import (
	"cmp"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Fault is a failure with what programs and people want to know of it.
type Fault struct {
	Code    string // names it for programs, see [CodeOf]; "": as Err
	Kind    error  // one of the Err values, which it matches; nil: it matches what Err does
	Subject        // what it is about
	Err     error  // what went wrong, in words
	Hint    string // a remedy, in words that can follow the error; "": none is known
}

// Subject is what a Fault is about. What doesn't apply is zero.
type Subject struct {
	Provider Provider
	Version  Version
	Platform Platform
	Step     string         // of an installation: "query", "fetch"
	Source   string         // that doesn't have the provider, as Source.Describe names it
	Registry bool           // Source is a registry
	Host     hosts.Hostname // that refused a request
	URL      string         // of the web page that came in place of an archive
	// Protocols are the plugin protocols of a version, of which the product speaks none.
	Protocols []string
	// Providers are those that all fail for the same reason.
	Providers []Provider
	// Platforms are those that Source has packages of Version for, sorted, where there is none for Platform; none: it doesn't tell.
	Platforms []Platform
	// Newest is the newest other version with a package for Platform, a release if there is one; zero: none, or it isn't known.
	Newest Version
	// Nowhere: no version that Source has is for Platform.
	Nowhere bool
}

// Error implements error. Only that of a Step begins with what it is about.
func (f *Fault) Error() string {
	text := f.Err.Error()
	if f.Step == "" {
		return text
	}
	if f.Platform != (Platform{}) {
		text = f.Platform.String() + ": " + text
	}
	name := f.Provider.String()
	if f.Version != (Version{}) {
		name += " v" + f.Version.String()
	}
	return name + ": " + doing[f.Step] + text
}

// code is that of the Fault or of its cause, or names the step: "failed_unpack".
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

// FaultOf returns the first Fault in an error that is of a kind; nil if there is none.
func FaultOf(err, kind error) *Fault {
	for _, part := range wrapped.All(err) {
		if f, ok := part.(*Fault); ok && f.Kind == kind {
			return f
		}
	}
	return nil
}

// Failure returns the first Fault in an error that names the step of an installation.
func Failure(err error) (*Fault, bool) {
	for _, part := range wrapped.All(err) {
		if f, ok := part.(*Fault); ok && f.Step != "" {
			return f, true
		}
	}
	return nil, false
}

// CodeOf returns the code of an error, or of the first that it wraps that has one:
// "version_not_found", "unauthorized", "failed_unpack". "": there is none. Codes
// don't change; texts may.
func CodeOf(err error) string {
	for _, part := range wrapped.All(err) {
		code := ""
		switch e := part.(type) {
		case interface{ code() string }:
			code = e.code()
		case interface{ Code() string }:
			code = e.Code()
		}
		if code != "" {
			return code
		}
	}
	return ""
}

// HintsOf returns the hints of an error and of what it wraps, outer ones first.
func HintsOf(err error) (hints []string) {
	for _, part := range wrapped.All(err) {
		hint := ""
		switch e := part.(type) {
		case *Fault:
			hint = e.Hint
		case *checksumError:
			hint = e.hint()
		case interface{ Hint() string }:
			hint = e.Hint()
		}
		if hint != "" {
			hints = append(hints, hint)
		}
	}
	return hints
}

// SplitErrors takes apart what [errors.Join] put together, at any depth, in order:
// each result is about one thing. An error of this module is one, although it may
// have several causes. Of nil there are none.
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
