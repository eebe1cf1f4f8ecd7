package getproviders

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// What callers branch on, with errors.Is, beside the Err values of getproviders.
var (
	// ErrLockMismatch: the lock file records other hashes than the package has.
	ErrLockMismatch = errors.New("the package is not the one that the lock file records")
	// ErrLockedVersion: the constraints don't allow the version in the lock file.
	ErrLockedVersion = errors.New("the locked version does not meet the constraints")
	// ErrNoSpace: a disk, or the user's share of it, is full, or is too small for what
	// was to be fetched.
	ErrNoSpace = errors.New("there is no space left")
	// ErrUnwritable: packages can't be put into a directory.
	ErrUnwritable = errors.New("the directory can't be written to")
)

// Step is the part of an installation in which something failed.
type Step string

const (
	StepBuiltIn      Step = "built-in"     // a constraint on, or an unknown name of, a built-in provider
	StepLock         Step = "lock"         // the locked version doesn't fit the constraints
	StepQuery        Step = "query"        // asking for versions
	StepSelect       Step = "select"       // no version fits
	StepMetadata     Step = "metadata"     // asking for the package
	StepFetch        Step = "fetch"        // downloading the archive, or reading the directory
	StepAuthenticate Step = "authenticate" // checksum or signature, or the documents that hold them
	StepVerify       Step = "verify"       // the lock file's hashes
	StepUnpack       Step = "unpack"       // what the package contains
	StepPolicy       Step = "policy"       // the caller's own policy refuses the package
	StepPublish      Step = "publish"      // writing to the target directory
	StepCancel       Step = "cancel"       // the context ended
)

// doing is how each step begins the message about its failure.
var doing = map[Step]string{
	StepQuery:        "asking for available versions: ",
	StepMetadata:     "asking for the package: ",
	StepFetch:        "fetching the package: ",
	StepAuthenticate: "authenticating the package: ",
	StepUnpack:       "unpacking the package: ",
	StepPublish:      "putting the package into its place: ",
	StepCancel:       "installation was cancelled: ",
}

// LockedVersionError says that the version in the lock file is not one that
// the configuration allows.
type LockedVersionError struct {
	Provider     Provider
	Version      Version
	Constraints  Constraints
	Requirements []Requirement // those that don't allow the version
	Others       []Requirement // those that do
	Product      Product
}

// Error implements error.
func (e *LockedVersionError) Error() string {
	return fmt.Sprintf("locked provider %s %s does not match configured version constraint %s",
		e.Provider, e.Version, e.Constraints)
}

// Code is "locked_version".
func (e *LockedVersionError) Code() string { return "locked_version" }

// Is reports whether target is ErrLockedVersion.
func (e *LockedVersionError) Is(target error) bool { return target == ErrLockedVersion }

// Hint names the remedy. Requirements says whose constraints it is about.
func (e *LockedVersionError) Hint() string {
	if e.Product.Program == "" {
		return "upgrade to allow the selection of new versions"
	}
	return fmt.Sprintf("use %q to allow the selection of new versions", e.Product.Program+" init -upgrade")
}

// NoVersionError says that a source has a provider, and no version of it that
// the constraints allow. It matches getproviders.ErrNoMatchingVersion.
type NoVersionError struct {
	Provider    Provider
	Constraints Constraints
	Source      string  // as Source.Describe names it
	Newest      Version // of those there are; zero if there are none

	// Below and Above are the releases that are nearest to what the constraints allow, and
	// Prerelease is the newest one that they would allow if it were named exactly; each
	// is zero if there is none.
	Below, Above, Prerelease Version

	Conflict Conflict // which constraints contradict each other
}

// Error implements error.
func (e *NoVersionError) Error() string {
	if e.Newest == (Version{}) {
		return fmt.Sprintf("no version of provider %s is available from %s", e.Provider, e.Source)
	}
	if e.Constraints.IsEmpty() {
		return fmt.Sprintf("no release of provider %s is available from %s", e.Provider, e.Source)
	}
	return fmt.Sprintf("no available releases match the given constraints %s", e.Constraints)
}

// Hint names the versions that there are instead.
func (e *NoVersionError) Hint() string {
	none := Version{}
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

// Code is "no_matching_version".
func (e *NoVersionError) Code() string { return "no_matching_version" }

// Is reports whether target is getproviders.ErrNoMatchingVersion.
func (e *NoVersionError) Is(target error) bool { return target == ErrNoMatchingVersion }

// Unwritable says that the providers' packages can't be put into a directory. It is found out before anything is
// fetched, and is the one error for all of them. It matches ErrUnwritable and err.
func Unwritable(dir string, providers []Provider, err error) *Fault {
	failed := &Fault{Code: "unwritable", Kind: ErrUnwritable, Subject: Subject{Providers: providers}, Err: fmt.Errorf("no package can be put into %s: %w", dir, err)}
	switch {
	case errors.Is(err, fs.ErrPermission):
		failed.Hint = "this user may not write there. An earlier run as another user, such as root in a container, may have made the directory: " +
			"correct its owner or its permissions, or run as the user who owns it"
	case errors.Is(err, fs.ErrExist):
		failed.Hint = "what is there is no directory, or a link that leads nowhere: remove it, or make what it leads to"
	}
	return failed
}

// NoSpaceError says that packages are larger than the room that there is for them, as
// far as their sizes are known before they are read. It is the one error for all
// Providers. It matches ErrNoSpace.
type NoSpaceError struct {
	Dirs       []string   // where packages go
	Providers  []Provider // that were not installed for it
	Need, Free int64      // bytes: of the archives whose sizes are known; of the file systems of Dirs
}

// Error implements error.
func (e *NoSpaceError) Error() string {
	return fmt.Sprintf("the packages need %s or more, and %s are free in %s", amount(e.Need), amount(e.Free), strings.Join(e.Dirs, " and "))
}

// amount writes a number of bytes for people, in powers of ten.
func amount(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
}

// Hint says what to do.
func (e *NoSpaceError) Hint() string {
	return "make room there, or put the packages on another disk"
}

// Code is "no_space".
func (e *NoSpaceError) Code() string { return "no_space" }

// Is reports whether target is ErrNoSpace.
func (e *NoSpaceError) Is(target error) bool { return target == ErrNoSpace }
