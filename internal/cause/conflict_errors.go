package cause

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ConstraintBound is a requirement with the newest version that it allows.
type ConstraintBound struct {
	getproviders.Requirement
	// Newest is the newest version that the requirement allows by itself. It
	// is zero if there is none.
	Newest getproviders.Version
}

// Conflict says which versions the requirements on one provider allow.
type Conflict struct {
	Bounds []ConstraintBound // of all requirements, in their order
	// Minimal are those of Bounds that leave no version between them: as few
	// as can be, and of equally few the first. If it takes more than a handful,
	// or there are very many requirements, it may be that fewer would do; yet
	// none of them can be left out. It is empty if there is no conflict, also
	// where there is no version in the first place.
	Minimal []ConstraintBound
}

// LockedVersionError says that the version in the lock file is not one that
// the configuration allows. The Fault that wraps it matches getproviders.ErrLockedVersion.
type LockedVersionError struct {
	Provider     getproviders.Provider
	Version      getproviders.Version
	Constraints  getproviders.Constraints
	Requirements []getproviders.Requirement // those that don't allow the version
	Others       []getproviders.Requirement // those that do
	Product      getproviders.Product
}

// Error implements error.
func (e *LockedVersionError) Error() string {
	return fmt.Sprintf("locked provider %s %s does not match configured version constraint %s",
		e.Provider, e.Version, e.Constraints)
}

// Hint names the remedy. Requirements says whose constraints it is about.
func (e *LockedVersionError) Hint() string {
	if e.Product.Program == "" {
		return "upgrade to allow the selection of new versions"
	}
	return fmt.Sprintf("use %q to allow the selection of new versions", e.Product.Program+" init -upgrade")
}

// NoVersionError says that a source has a provider, and no version of it that
// the constraints allow. The Fault that wraps it matches getproviders.ErrNoMatchingVersion.
type NoVersionError struct {
	Provider    getproviders.Provider
	Constraints getproviders.Constraints
	Source      string               // as Source.Describe names it
	Newest      getproviders.Version // of those there are; zero if there are none

	// Below and Above are the releases that are nearest to what the constraints allow, and
	// Prerelease is the newest one that they would allow if it were named exactly; each
	// is zero if there is none.
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

// Hint names the versions that there are instead.
func (e *NoVersionError) Hint() string {
	none := getproviders.Version{}
	var parts []string
	switch {
	case len(e.Conflict.Minimal) > 1 || e.Below == none && e.Above == none: // who requires what says more
		if e.Newest != none && e.Newest.Prerelease == "" {
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
