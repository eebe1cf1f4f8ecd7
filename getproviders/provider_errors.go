package getproviders

import (
	"errors"
	"fmt"
	"io/fs"

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
