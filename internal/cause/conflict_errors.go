package cause

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ConstraintBound is a requirement with the newest version that it allows.
type ConstraintBound struct {
	getproviders.Requirement
	// Newest is the newest version that the requirement allows by itself, or zero if it allows
	// none.
	Newest getproviders.Version
}

// Conflict describes which versions the requirements on one provider allow.
type Conflict struct {
	Bounds []ConstraintBound // of all requirements, in their order
	// Minimal are those of Bounds that together allow no version: the smallest such set, and the
	// first of equally small ones. If that set has more than a few requirements, or there are very
	// many, Minimal may be larger than the smallest set; yet none of its requirements can be left
	// out. It is empty without a conflict, and if the provider has no versions.
	Minimal []ConstraintBound
}

// LockedVersionError means that the configuration doesn't allow the version in the lock file. The
// Fault that wraps it matches getproviders.ErrLockedVersion.
type LockedVersionError struct {
	Provider     getproviders.Provider
	Version      getproviders.Version
	Constraints  getproviders.Constraints
	Requirements []getproviders.Requirement // those that don't allow Version
	Others       []getproviders.Requirement // those that allow Version
	Product      getproviders.Product
}

// Error implements error.
func (e *LockedVersionError) Error() string {
	return fmt.Sprintf("locked provider %s %s does not match configured version constraint %s",
		e.Provider, e.Version, e.Constraints)
}

// Hint names the remedy. Requirements holds the constraints in question.
func (e *LockedVersionError) Hint() string {
	if e.Product.Program == "" {
		return "upgrade to allow the selection of new versions"
	}
	return fmt.Sprintf("use %q to allow the selection of new versions", e.Product.Program+" init -upgrade")
}

// NoVersionError means that a source has a provider, but no version that the constraints allow. The
// Fault that wraps it matches getproviders.ErrNoMatchingVersion.
type NoVersionError struct {
	Provider    getproviders.Provider
	Constraints getproviders.Constraints
	Source      string               // as Source.Describe names it
	Newest      getproviders.Version // of the source's versions; zero if it has none

	NewestRefused bool // by a policy, so that it isn't proposed

	// Below and Above are the releases nearest to the allowed ones, and Prerelease is the newest
	// prerelease that the constraints would allow if they named it exactly; each is zero if no such
	// version exists.
	Below, Above, Prerelease getproviders.Version

	Conflict Conflict // which constraints contradict each other
}

// Error implements error.
func (e *NoVersionError) Error() string {
	if e.Newest.IsZero() {
		return fmt.Sprintf("no version of provider %s is available from %s", e.Provider, e.Source)
	}
	if e.Constraints.IsEmpty() {
		return fmt.Sprintf("no release of provider %s is available from %s", e.Provider, e.Source)
	}
	return fmt.Sprintf("no available releases match the given constraints %s", e.Constraints)
}

// Hint names the available versions.
func (e *NoVersionError) Hint() string {
	none := getproviders.Version{}
	var parts []string
	switch {
	case len(e.Conflict.Minimal) > 1 || e.Below == none && e.Above == none: // the conflicting requirements say more
		if e.Newest != none && e.Newest.Prerelease == "" && !e.NewestRefused {
			parts = append(parts, fmt.Sprintf("the newest version is %s", e.Newest))
		}
	case e.Below != none && e.Above != none:
		parts = append(parts, fmt.Sprintf("the nearest versions are %s and %s", e.Below, e.Above))
	case e.Below != none:
		parts = append(parts, fmt.Sprintf("the newest version is %s", e.Below))
	case e.Above != none:
		parts = append(parts, fmt.Sprintf("the oldest version is %s", e.Above))
	}
	if e.Prerelease != none {
		parts = append(parts, fmt.Sprintf("%s is a prerelease, which has to be named exactly: version = %q", e.Prerelease, e.Prerelease))
	}
	return strings.Join(parts, "; ")
}
