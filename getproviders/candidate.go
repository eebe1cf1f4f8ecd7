package getproviders

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Candidate is a package that has passed all checks and is about to be used: published, left where
// it is, or recorded in a lock file.
type Candidate struct {
	Provider Provider
	Version  Version
	Platform Platform
	State    CandidateState
	// Source is the name of the source that has it, as getproviders.Source.Describe returns it.
	// Location is where it was fetched from, without secrets; "" unless State is StateFetched.
	// SourceURL is the URL of the registry or mirror that the package comes from, or came from when
	// it was fetched; "" if unknown.
	Source, Location, SourceURL string
	// FromRegistry says that the source is the provider's own registry.
	FromRegistry bool
	// Hashes are the known hashes of the package: the h1 of its files and the zh of its archive.
	Hashes []Hash
	// Authentication says who signed the package. For a package that an earlier run fetched it is
	// that run's result. Zero if unknown.
	Authentication AuthenticationResult
	// Released is when the archive was last changed, as its server or the file system says, or else
	// when this machine first fetched the package; zero if unknown.
	Released time.Time
}

// CandidateState says where a candidate is.
type CandidateState string

const (
	StateFetched CandidateState = "fetched" // in a private directory after a download, or in an unpacked mirror, where it stays
	StateCached  CandidateState = "cached"  // in the shared cache
	StatePresent CandidateState = "present" // where it belongs: a target, a mirror, vendored packages
	StateKnown   CandidateState = "known"   // not on this machine: its source lists the hashes, or an earlier run computed them
	StateListed  CandidateState = "listed"  // not on this machine: its source lists the version, and one version is to be chosen
)

// ErrRefused says that the Fetcher's Policy refuses a package. The Fault names the package, and matches the
// policy's reason, too.
var ErrRefused = errors.New("a policy refuses the package")

// LeftOut are versions that a policy keeps a caller from choosing, the newest first. It is the error if no version is
// left.
type LeftOut struct {
	Versions   []Fault // each with its Version and the policy's reason
	Unexamined int     // how many older versions weren't examined
	Unknown    error   // why the policy's rules couldn't be asked about the chosen version; nil if they were
}

// String says in one line which versions are left out, and why. It groups versions with the same reason.
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
