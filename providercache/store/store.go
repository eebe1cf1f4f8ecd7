package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// Store is a directory of unpacked packages in the layout
// host/namespace/type/version/os_arch, as Terraform and OpenTofu read it: a
// target such as ".terraform/providers", or a cache that working directories
// share. Any number of processes, of several users if need be, may use it at the
// same time; where others than this user and root can write to a cache, no receipt
// counts, and what is used is hashed each time. It needn't exist: it is made when
// the first package is put into it, and removed again if that fails. A cache
// needn't be writable: where nothing can be put into it, what is there is used as
// it is.
//
// Names that begin with a dot are no part of the layout. Packages that are being
// made are in such directories.
type Store struct {
	Dir string // absolute for a cache

	// Shared says of a cache that the user named the directory, to share it with
	// Terraform: it links to packages in the cache, and unpacks over what is
	// there. A cache that isn't shared belongs to tfdeps.
	Shared bool
}

// PackagePath is where a package is, or would be. What is there may be a
// symbolic link to a directory.
func (d *Store) PackagePath(p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) string {
	return filepath.Join(d.Dir, filepath.FromSlash(getproviders.UnpackedPath(p, v, plat)))
}

// OpenCache returns the cache in a directory. The error says why there had
// better be none: it is no failure of anything, and worth a line for whoever
// wonders why packages are fetched again.
//
// A cache of our own has to belong to the user, or to root for everybody to
// read; so has what it is going to be made in. With "sudo", the home is
// somebody else's, who couldn't clear away what we leave there.
func OpenCache(dir string, named bool) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the user has no directory for caches")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := usable(absolute, named); err != nil {
		return nil, err
	}
	return &Store{Dir: absolute, Shared: named}, nil
}

// usable judges the directory, or the first of its parents that exists.
func usable(dir string, named bool) error {
	info, err := os.Stat(dir)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		return usable(parent, named)
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case !named && !owner.OwnedByUserOrRoot(info):
		return fmt.Errorf("%s belongs to somebody else", dir)
	}
	return nil
}
