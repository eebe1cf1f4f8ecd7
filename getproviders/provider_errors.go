package getproviders

import (
	"errors"

	"github.com/tfdeps/tfdeps/internal/during"
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

// doing is how each step begins the message about its failure.
var doing = map[string]string{
	during.Query:        "asking for available versions: ",
	during.Metadata:     "asking for the package: ",
	during.Fetch:        "fetching the package: ",
	during.Authenticate: "authenticating the package: ",
	during.Unpack:       "unpacking the package: ",
	during.Publish:      "putting the package into its place: ",
	during.Cancel:       "installation was cancelled: ",
}
