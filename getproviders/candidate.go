package getproviders

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Candidate is a package that has passed all checks and is about to be used: put
// into its place, left there, or recorded in a lock file.
type Candidate struct {
	Provider Provider
	Version  Version
	Platform Platform
	State    CandidateState
	// Source is the source that has it, as getproviders.Source.Describe names it, and
	// Location is where it was fetched from, without secrets; "" if State isn't
	// StateFetched. SourceURL is the URL of the registry or mirror that the package comes from,
	// or came from when it was fetched; "" if that isn't known.
	Source, Location, SourceURL string
	// FromRegistry says that this is the provider's own registry.
	FromRegistry bool
	// Hashes are those of the package, as far as they are known: the h1 of its files
	// and the zh of its archive.
	Hashes []Hash
	// Authentication says who signed it; of what was fetched by an earlier run, what was
	// found then. It is zero if nothing is known of that.
	Authentication AuthenticationResult
	// Released is when the archive was changed last, as its server or the file system says, or,
	// where neither does, when this machine fetched the package first; zero: not known.
	Released time.Time
}

// CandidateState says where a candidate is.
type CandidateState string

const (
	StateFetched CandidateState = "fetched" // in a private directory: it was just fetched; or in an unpacked mirror, where it stays
	StateCached  CandidateState = "cached"  // in the shared cache
	StatePresent CandidateState = "present" // in the place where it belongs: a target, a mirror, vendored packages
	StateKnown   CandidateState = "known"   // nowhere here: its source lists the hashes, or an earlier run has computed them
	StateListed  CandidateState = "listed"  // nowhere here: its source lists the version, one of which is to be chosen
)

// ErrRefused says that the Fetcher's Policy refuses a package. The Fault names it, and matches the reason, too.
var ErrRefused = errors.New("a policy refuses the package")

// LeftOut are versions that a policy doesn't let a caller choose, the newest first. It is the error where none is left.
type LeftOut struct {
	Versions   []Fault // each with its Version, and why a policy leaves it out
	Unexamined int     // how many older ones weren't examined
	Unknown    error   // why rules couldn't be asked about the version that was chosen; nil: they were
}

// String says in a line which versions are left out, and why; versions with the same reason are together.
func (l LeftOut) String() string {
	var parts []string
	for i := 0; i < len(l.Versions); {
		first := i
		for i < len(l.Versions) && l.Versions[i].Error() == l.Versions[first].Error() {
			i++
		}
		names := joined(l.Versions[first:i], quoted, func(f Fault) string { return f.Version.String() })
		parts = append(parts, fmt.Sprintf("%s: %v", names, l.Versions[first].Err))
	}
	return strings.Join(parts, "; ")
}

// Error implements error.
func (l LeftOut) Error() string {
	text := "no version is left that may be chosen: " + l.String()
	if l.Unexamined > 0 {
		text += fmt.Sprintf("; %d older ones weren't examined: a constraint that doesn't allow the newer ones has them examined", l.Unexamined)
	}
	return text
}

// Unwrap returns the first reason.
func (l LeftOut) Unwrap() error { return l.Versions[0].Err }
