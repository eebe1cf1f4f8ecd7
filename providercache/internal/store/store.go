// Package store is a directory of provider packages: a target such as
// ".terraform/providers", or a cache that working directories share.
//
//	cache, err := providercache.OpenCache(dir, false)
//	maintenance := &providercache.Maintenance{Cache: cache, StateDir: state}
//	packages, err := maintenance.List()
//	removed, err := maintenance.Collect(ctx, store.Policy{OlderThan: 30 * 24 * time.Hour}, store.RemoveOptions{})
//
// A [Maintenance] lists, verifies and removes the packages of a cache, while others install. [NoteUses] notes
// in the state directory who uses a package, before the package is linked. A removal takes the package's file
// lock, renames the package out of the way, and only then reads these notes: a link that was made before is
// noted by then, and the package is put back; a link that is made later doesn't find the package, which is
// fetched again. So file locks only save work, and correctness doesn't depend on them.
//
// [ReadTrees] and [ReadTree.Compare] ignore receipts: they hash every package of a
// directory and compare it with a lock file. [PackageSpecs] returns what lock
// files select, for Verify, for Collect and for the keys of caches in CI.
//
// A [View] is a directory with its receipts, for packages of this module: the
// receipts' type is internal. docs/engine.md says when a receipt counts.
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

// Store is a directory of unpacked packages in the layout host/namespace/type/version/os_arch, as
// Terraform and OpenTofu read it: a target such as ".terraform/providers", or a cache that working
// directories share. Any number of processes, even of several users, may use it at the same time; if
// users other than this one and root can write to a cache, no receipt counts, and packages are hashed
// each time. The directory need not exist: it is made for the first package, and removed again if that
// fails. A cache need not be writable: its packages are used as they are.
//
// Names that begin with a dot aren't part of the layout. Staging directories have such names.
type Store struct {
	Dir string // absolute for a cache

	// Shared says that the user named the cache's directory, to share it with Terraform, which links to
	// packages in the cache, and unpacks over existing ones. A cache that isn't shared belongs to tfdeps.
	Shared bool

	found fs.FileInfo // the directory that OpenCache found; nil: it didn't exist
}

// IsSameAs reports whether both stores are one directory, even by other names or links. Neither needs to exist.
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

// PackagePath returns the path of a package, which may be a symbolic link to a directory, and need not exist.
func (c *Store) PackagePath(p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) string {
	return filepath.Join(c.Dir, filepath.FromSlash(layout.UnpackedPath(p, v, plat)))
}

// OpenCache returns the cache in a directory, or an error that says why the
// directory can't serve as one. The caller may go on without a cache.
//
// tfdeps' own cache has to belong to the user or, readable for every user, to root, and so has the directory in
// which it is made. Only root may make it in a directory of another user: in containers, the home of root often is one. Under
// sudo that user couldn't remove root's files, so there the caller gives no such directory.
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
	found, err := usable(absolute, named || os.Geteuid() == 0)
	if err != nil {
		return nil, err
	}
	return &Store{absolute, named, found}, nil
}

// packageRoom is how many bytes the path of a package's file has below a cache, with usual names.
const packageRoom = 256

// hasRoom returns an error if paths of packages' files would be longer
// than the system allows: a package could be stored, but not read.
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
		return fmt.Errorf("its packages belong in the directory %s, whose name Windows doesn't allow: "+
			"use an address without a port, and without the name of a device such as con or aux", p)
	}
	return nil
}

// usable checks the directory, or its nearest existing parent, and returns the directory's info. With anyOwner it may belong to
// another user than this one and root.
func usable(dir string, anyOwner bool) (found fs.FileInfo, err error) {
	found, err = os.Stat(dir)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		_, err = usable(parent, anyOwner)
		return nil, err
	}
	switch {
	case err != nil:
	case !found.IsDir():
		err = fmt.Errorf("%s is not a directory", dir)
	case !anyOwner && !owner.OwnedByUserOrRoot(found):
		err = fmt.Errorf("%s belongs to another user", dir)
	}
	return found, err
}

// Place describes the store's directory and file system. Unknown fields stay zero, but Free is -1.
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

// Exposed returns the packages that users other than this one and
// root can change, so that no receipt for them counts.
func (u *Maintenance) Exposed(packages []Package) (exposed []Package) {
	view := u.view()
	for _, p := range packages {
		if !view.IsOwn(p.Dir) {
			exposed = append(exposed, p)
		}
	}
	return exposed
}
