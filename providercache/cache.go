package providercache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Cache is a directory of unpacked packages that working directories share, in
// the layout of Dir. Any number of processes, of several users if need be, may
// use it at the same time. It needn't exist, and needn't be writable: where
// nothing can be put into it, what is there is used as it is.
type Cache struct {
	Dir string // absolute

	// Named says that the user named the directory, to share it with the real
	// tools: they link to packages in it, and unpack over what is there. A cache
	// that isn't named is one of our own.
	Named bool
}

// OpenCache returns the cache in a directory. The error says why there had
// better be none: it is no failure of anything, and worth a line for whoever
// wonders why packages are fetched again.
//
// A cache of our own has to belong to the user, or to root for everybody to
// read; so has what it is going to be made in. With "sudo", the home is
// somebody else's, who couldn't clear away what we leave there.
func OpenCache(dir string, named bool) (*Cache, error) {
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
	return &Cache{Dir: absolute, Named: named}, nil
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
	case !named && !ownedByUserOrRoot(info):
		return fmt.Errorf("%s belongs to somebody else", dir)
	}
	return nil
}

// dir is the cache as a directory of packages.
func (c *Cache) dir() *Dir { return &Dir{Path: c.Dir} }

func (in *Installer) cachePath(s Selection) string {
	return in.Cache.dir().PackagePath(s.Provider, s.Version, in.platform())
}
