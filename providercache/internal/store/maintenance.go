package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Maintenance lists, verifies and removes packages of a cache, while others install. A
// cache that doesn't exist counts as empty. Its methods are safe for concurrent use.
//
// It knows which directories use a package if an Installer with this StateDir has installed into them. It
// doesn't know directories of other users, or those that only Terraform or OpenTofu prepared.
type Maintenance struct {
	Cache    *Store
	StateDir string // as UsableState returns it; "": only the cache itself is known
	Now      func() time.Time
	// Emit gets the events of Verify, from several goroutines at once: event.Queued, and
	// for each package event.Hashing, event.HashProgress and event.Hashed.
	Emit func(context.Context, event.Event)
}

// Package is a package of a cache.
type Package struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Dir      string // absolute

	Size      int64     // bytes in its files
	OnDisk    int64     // bytes that they take on the disk; a file that several packages share counts for the first one
	LastUse   time.Time // when a directory was last prepared with it, to the day; else when it was put here
	Users     []string  // the directories (Installer.Target) that have the package, absolute and sorted
	Linked    []string  // those of them that have only a symbolic link to it
	Managed   bool      // it has a receipt: an Installer or a Maintenance put it here, or verified it
	Condition Condition // as far as it is known without reading the package
}

// Name is the name of the package in receipts and file locks.
func (p Package) Name() string { return layout.UnpackedPath(p.Provider, p.Version, p.Platform) }

// Condition says what is known of a package's content.
type Condition string

const (
	ConditionComplete Condition = "complete" // it matches its receipt
	ConditionDamaged  Condition = "damaged"  // it can't match its receipt
	ConditionUnknown  Condition = "unknown"  // only reading it would tell
)

// view reads the receipts for the cache.
func (u *Maintenance) view() View { return ViewCache(u.Cache, u.StateDir, u.Now, false) }

// layoutDepth is the number of names in host/namespace/type/version/os_arch.
const layoutDepth = 5

// packages finds the packages in the cache, in the order of the
// file system's names. It skips other names.
func (c *Store) packages() (found []Package, err error) {
	names, err := subdirectories(context.Background(), c.Dir, layoutDepth, true)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		if p, ok := ParseName(name); ok {
			p.Dir = filepath.Join(c.Dir, filepath.FromSlash(name))
			found = append(found, p)
		}
	}
	return found, nil
}

// ParseName parses a Package's Name, as layout.UnpackedPath makes it.
func ParseName(name string) (p Package, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) != layoutDepth {
		return Package{}, false
	}
	addressErr := p.Provider.UnmarshalText([]byte(strings.Join(parts[:3], "/")))
	versionErr := p.Version.UnmarshalText([]byte(parts[3]))
	platformErr := p.Platform.UnmarshalText([]byte(parts[4]))
	if cmp.Or(addressErr, versionErr, platformErr) != nil {
		return Package{}, false
	}
	return p, p.Name() == name
}

// comparePackages sorts packages by address, version and platform.
func comparePackages(a, b Package) int {
	return cmp.Or(a.Provider.Compare(b.Provider), a.Version.Compare(b.Version), a.Platform.Compare(b.Platform))
}

// List returns the packages in the cache, sorted by address, version and platform. It
// reads no package. The error is that of a directory that can't be listed.
func (u *Maintenance) List() ([]Package, error) {
	found, err := u.Cache.packages()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, comparePackages)
	at, using, seen := u.view(), u.uses(), map[receipt.Inode]bool{}
	for i := range found {
		p := &found[i]
		p.Size, p.OnDisk = receipt.TreeSize(p.Dir, seen)
		p.Managed, p.Condition = at.Condition(p.Name())
		using.complete(p)
	}
	return found, nil
}

// Condition returns what the receipts know, without reading the package.
func (s View) Condition(name string) (known bool, c Condition) {
	made, known := s.Find(name)
	if !known {
		return false, ConditionUnknown
	}
	if _, ok := s.Known(name); ok {
		return true, ConditionComplete
	}
	entries, err := receipt.StatTree(s.Path(name))
	if err == nil && !sameSizes(entries, made.Record.Entries) {
		return true, ConditionDamaged
	}
	return true, ConditionUnknown
}

// sameSizes reports whether two records have files of the same names and sizes.
func sameSizes(a, b []receipt.StatEntry) bool {
	return slices.EqualFunc(a, b, func(a, b receipt.StatEntry) bool { return a.Name == b.Name && a.Size == b.Size })
}
