// Package store is a directory of provider packages: a target such as
// ".terraform/providers", or a cache that working directories share.
//
//	cache, err := providercache.OpenCache(dir, false)
//	maintenance := &providercache.Maintenance{Cache: cache, StateDir: state}
//	packages, err := maintenance.List()
//	removed, err := maintenance.Collect(ctx, store.Policy{OlderThan: 30 * 24 * time.Hour}, store.RemoveOptions{})
//
// A [Maintenance] lists, verifies and removes the packages of a cache, while others
// install. Who uses a package is noted in the state directory by [NoteUses],
// before the package is linked. A removal takes the package's file lock, moves the
// package out of the way, and only then reads these notes: a link that was made
// before is noted by then, and the package is put back; a link that is made later
// finds no package, and it is fetched. So file locks save work, and nothing else
// depends on them.
//
// [ReadTrees] and [ReadTree.Compare] trust no receipt: they hash every package of a
// directory and compare it with a lock file. [PackageSpecs] gathers what lock files
// select, for Verify, for Collect and for the keys of caches in CI.
//
// A [View] is a directory with its receipts. It is for the packages above this one,
// and its receipts' type is internal. docs/engine.md says when a receipt counts.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
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

	found fs.FileInfo // what OpenCache found there; nil: nothing
}

// IsSameAs reports whether both stores are one directory, by whatever names and links.
// Neither needs to exist.
func (c *Store) IsSameAs(other *Store) bool {
	mine, err := c.found, error(nil)
	if mine == nil {
		mine, err = os.Stat(c.Dir)
	}
	theirs, otherErr := os.Stat(other.Dir)
	if err == nil && otherErr == nil {
		return os.SameFile(mine, theirs)
	}
	return err != nil && otherErr != nil && realPath(c.Dir) == realPath(other.Dir)
}

// PackagePath is where a package is, or would be. What is there may be a
// symbolic link to a directory.
func (c *Store) PackagePath(p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) string {
	return filepath.Join(c.Dir, filepath.FromSlash(layout.UnpackedPath(p, v, plat)))
}

// OpenCache returns the cache in a directory. The error says why the
// directory can't serve as one. The caller may go on without a cache.
//
// tfdeps' own cache has to belong to the user, or to root for every user to read,
// and so has the directory that it is going to be made in. Under sudo, the home
// directory is another user's, who couldn't remove what is left there.
func OpenCache(dir string, named bool) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the user has no directory for caches")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := hasRoom(absolute, runtime.GOOS); err != nil {
		return nil, err
	}
	found, err := usable(absolute, named)
	if err != nil {
		return nil, err
	}
	return &Store{absolute, named, found}, nil
}

// packageRoom is how many bytes the path of a package's file has below a cache, usual names assumed.
const packageRoom = 256

// hasRoom returns an error if the paths of files of packages would be longer than a system takes: a
// package would be stored that can't be read.
func hasRoom(dir, goos string) error {
	most := map[string]int{"linux": 4095, "darwin": 1023}[goos]
	if most > 0 && len(dir)+packageRoom > most {
		return fmt.Errorf("its path has %d bytes, files of packages need %d more, and a path has %d at most on this system", len(dir), packageRoom, most)
	}
	return nil
}

// Holds returns an error if the directories of a provider's packages can't be made on a system.
func Holds(p getproviders.Provider, goos string) error {
	if goos == "windows" && layout.WindowsRefuses(p.String()) {
		return fmt.Errorf("its packages belong into the directory %s, which Windows can't have: "+
			"use an address without a port, and without the name of a device such as con or aux", p)
	}
	return nil
}

// usable checks the directory, which it returns, or the first of its parents that exists.
func usable(dir string, named bool) (found fs.FileInfo, err error) {
	found, err = os.Stat(dir)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		_, err = usable(parent, named)
		return nil, err
	}
	switch {
	case err != nil:
	case !found.IsDir():
		err = fmt.Errorf("%s is not a directory", dir)
	case !named && !owner.OwnedByUserOrRoot(found):
		err = fmt.Errorf("%s belongs to another user", dir)
	}
	return found, err
}

// Place looks at where the store is. What can't be found out is left at its zero value.
func (c *Store) Place() disk.Place {
	p := disk.Place{Dir: c.Dir, Free: -1}
	for {
		info, err := os.Stat(p.Dir)
		if err == nil && info.IsDir() {
			break
		}
		above := filepath.Dir(p.Dir)
		if above == p.Dir {
			return p
		}
		p.Dir = above
	}
	p.Exists = p.Dir == c.Dir
	p.FileSystem = disk.Kind(p.Dir)
	p.KeepsTimes = receipt.KeepsTimes(p.Dir)
	if free, known := disk.Room(p.Dir); known {
		p.Free = free
	}
	p.Exposed = owner.Exposed(p.Dir)
	return p
}

// Exposed returns those of the packages that another user than this one and root can change, so
// that no receipt for them counts.
func (u *Maintenance) Exposed(packages []Package) (exposed []Package) {
	view := u.view()
	for _, p := range packages {
		if !view.IsOwn(p.Dir) {
			exposed = append(exposed, p)
		}
	}
	return exposed
}
