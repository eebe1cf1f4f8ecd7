package providercache

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Upkeep looks after a Cache: it lists, verifies and removes packages while
// others install. A cache that doesn't exist is an empty one. It is a plain
// struct; its methods may be called from many goroutines.
//
// Who uses a package is known of directories that an Installer with this
// StateDir has worked on. Those that only the real tools have prepared aren't
// known, nor are those of other users.
type Upkeep struct {
	Cache    *Store           // required
	StateDir string           // as Installer.StateDir; "": nothing is known but what is in the cache
	Now      func() time.Time // nil: time.Now
}

// Cached is a package of a cache.
type Cached struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Dir      string // absolute

	Size      int64     // bytes in its files
	OnDisk    int64     // bytes that they take on the disk; a file that several packages share counts for the first
	LastUse   time.Time // when a directory was last prepared with it, to the day; else when it was put here
	Users     []string  // the directories (Installer.Target) that have the package, absolute and sorted
	Linked    []string  // those of them that have it by a symbolic link, and no files of their own
	Ours      bool      // there is a receipt: it was put here, or verified, by an Installer or Upkeep
	Condition Condition // as far as it can be told without reading it
}

// name is what receipts and locks know the package by.
func (p Cached) name() string { return getproviders.UnpackedPath(p.Provider, p.Version, p.Platform) }

// Condition says what is known of a package's content.
type Condition string

const (
	Complete Condition = "complete" // it is what its receipt says
	Damaged  Condition = "damaged"  // it can't be
	Unknown  Condition = "unknown"  // it would have to be read
)

func (u *Upkeep) now() time.Time {
	now := u.Now
	if now == nil {
		now = time.Now
	}
	return now()
}

// state is the directory of receipts; "" if there is none that counts.
func (u *Upkeep) state() string { return usableState(u.StateDir) }

func (u *Upkeep) shelf() shelf {
	dir := u.Cache.Dir
	return shelf{dir, openCacheReceipts(u.state(), dir), openSystemReceipts(dir), u.now}
}

// layoutDepth is how many names there are in host/namespace/type/version/os_arch.
const layoutDepth = 5

// packages finds what is in the cache, in the order of the file system's names.
// What isn't named like a package isn't one.
func (c *Store) packages() (found []Cached, err error) {
	names := []string{""}
	for range layoutDepth {
		var below []string
		for _, name := range names {
			more, err := c.directoriesIn(name)
			if err != nil {
				return nil, err
			}
			below = append(below, more...)
		}
		names = below
	}
	for _, name := range names {
		if p, ok := parseUnpacked(name); ok {
			p.Dir = filepath.Join(c.Dir, filepath.FromSlash(name))
			found = append(found, p)
		}
	}
	return found, nil
}

// directoriesIn lists the directories and links to directories in one of the
// cache, by their slash-separated names in it. One that has gone has none.
func (c *Store) directoriesIn(name string) (names []string, err error) {
	dir := filepath.Join(c.Dir, filepath.FromSlash(name))
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(filepath.Join(dir, entry.Name())); err != nil || !info.IsDir() {
				continue
			}
		} else if !entry.IsDir() {
			continue
		}
		names = append(names, strings.TrimPrefix(name+"/"+entry.Name(), "/"))
	}
	return names, err
}

// parseUnpacked reads what getproviders.UnpackedPath makes.
func parseUnpacked(name string) (p Cached, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) != layoutDepth {
		return Cached{}, false
	}
	addressErr := p.Provider.UnmarshalText([]byte(strings.Join(parts[:3], "/")))
	version, versionErr := getproviders.ParseVersion(parts[3])
	platform, platformErr := getproviders.ParsePlatform(parts[4])
	if addressErr != nil || versionErr != nil || platformErr != nil {
		return Cached{}, false
	}
	p.Version, p.Platform = version, platform
	return p, p.name() == name
}

// comparePackages is the order of lists: by address, version and platform.
func comparePackages(a, b Cached) int {
	if by := a.Provider.Compare(b.Provider); by != 0 {
		return by
	}
	if by := a.Version.Compare(b.Version); by != 0 {
		return by
	}
	return a.Platform.Compare(b.Platform)
}

// List tells what is in the cache, in the order of addresses, versions and
// platforms. No package is read. The error is that of a directory that can't be
// listed.
func (u *Upkeep) List() ([]Cached, error) {
	found, err := u.Cache.packages()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, comparePackages)
	at, using, seen := u.shelf(), u.uses(), map[inode]bool{}
	for i := range found {
		p := &found[i]
		p.Size, p.OnDisk = treeSize(p.Dir, seen)
		p.Ours, p.Condition = at.condition(p.name())
		using.tell(p)
	}
	return found, nil
}

// condition says what the receipts know, without reading the package.
func (s shelf) condition(name string) (known bool, c Condition) {
	receipt, known := s.find(name)
	if !known {
		return false, Unknown
	}
	if _, ok := s.genuine(name); ok {
		return true, Complete
	}
	entries, err := statTree(s.path(name))
	if err == nil && !sameSizes(entries, receipt.Record.Entries) {
		return true, Damaged
	}
	return true, Unknown
}

// sameSizes reports whether two records have files of the same names and sizes.
func sameSizes(a, b []statEntry) bool {
	return slices.EqualFunc(a, b, func(a, b statEntry) bool { return a.Name == b.Name && a.Size == b.Size })
}
