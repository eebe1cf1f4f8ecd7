package providercache

import (
	"context"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

type (
	// Store is a directory Dir of unpacked packages in the layout host/namespace/type/version/os_arch, as Terraform and OpenTofu
	// read it: a target such as ".terraform/providers", or a cache. Shared says of a cache that other programs use it, too.
	Store = store.Store
	// Maintenance lists, verifies and removes the packages of a Cache, while others install. Fetcher.Maintain makes one.
	Maintenance = store.Maintenance
	// StoredPackage is a package of a cache: how large it is, who uses it, and what is known of its content.
	StoredPackage = store.Package
	// Condition is what is known of a stored package's content without reading it.
	Condition = store.Condition
	// CollectPolicy says which packages Maintenance.Collect removes.
	CollectPolicy = store.Policy
	// Removal is what was removed and what wasn't, and RemoveOptions say how careful Maintenance.Remove is.
	Removal = store.Removal
	// RemoveOptions say how careful Maintenance.Remove is.
	RemoveOptions = store.RemoveOptions
	// Kept is a package that wasn't removed, and why.
	Kept = store.Kept
	// Verified is a package that Maintenance.Verify has read.
	Verified = store.Verified
	// Finding is what came of reading or comparing it.
	Finding = store.Finding

	// ReadTree is a directory of packages that ReadTrees has read, and ReadPackage one of its packages.
	ReadTree = store.ReadTree
	// ReadPackage is a package that was read from its first byte to its last.
	ReadPackage = store.ReadPackage
	// ComparedPackage is a ReadPackage in the light of a lock file; CompareOptions say what the tree is for.
	ComparedPackage = store.ComparedPackage
	// CompareOptions say what a tree is for.
	CompareOptions = store.CompareOptions

	// LinkMode says how a package gets from the cache into a target. The zero value is LinkAuto.
	LinkMode = link.Mode
)

// Findings of Maintenance.Verify and of ReadTree.Compare.
const (
	OK         = store.OK         // its hash is what its receipt or a lock file records
	NotLocked  = store.NotLocked  // Verify: the lock file has none of its hashes; Compare: no entry for it, or for another version
	Corrupt    = store.Corrupt    // Verify: it isn't what its receipt says, or can't be read, or is no provider
	Unknown    = store.Unknown    // Verify: neither a receipt nor a lock file says what it should be
	Missing    = store.Missing    // Compare: the lock file selects it, and it isn't there
	Dangling   = store.Dangling   // Compare: a link stands in its place, and leads nowhere
	Differs    = store.Differs    // Compare: the lock file has hashes that it could have, and it has none of them
	Unproven   = store.Unproven   // Compare: the lock file has no hash that a package in this form can have
	Unreadable = store.Unreadable // Compare: it can't be hashed
)

// The ways from a cache into a target.
const (
	LinkAuto     = link.Auto // the best that works there
	LinkClone    = link.Clone
	LinkHardlink = link.Hardlink
	LinkSymlink  = link.Symlink
	LinkCopy     = link.Copy
)

var (
	// ErrInUse says that a package is being worked on, or that a directory has a symbolic link to it.
	ErrInUse = store.ErrInUse
	// ErrUnmanaged says that a package has no receipt: another program may have put it there.
	ErrUnmanaged = store.ErrUnmanaged
)

// OpenCache returns the cache in a directory; named says that the user chose it. The error says why the directory can't serve
// as one: tfdeps' own cache has to belong to this user or to root. The caller may go on without a cache.
func OpenCache(dir string, named bool) (*Store, error) { return store.OpenCache(dir, named) }

// PackageSpecs gathers what lock files select, in the order of addresses and versions, each version once with all its hashes.
// It is never nil.
func PackageSpecs(locks ...*depsfile.Locks) []getproviders.PackageSpec {
	return store.PackageSpecs(locks...)
}

// ReadTrees hashes every package of directories, whether in a cache's or in a mirror's layout. No receipt counts, nothing is
// written and no request is made. The results belong to dirs, in their order; the error is the cause of ctx.
func ReadTrees(ctx context.Context, dirs []string, observe func(context.Context, event.Event)) ([]ReadTree, error) {
	return store.ReadTrees(ctx, dirs, (&Fetcher{Observe: observe}).Opened().Emit)
}

// Maintain is what looks after a cache, by the StateDir and the clock of the Fetcher, which is told what is read.
func (f *Fetcher) Maintain(cache *Store) *Maintenance {
	opened := f.Opened()
	return &Maintenance{Cache: cache, StateDir: opened.StateDir, Now: opened.Now, Emit: opened.Emit}
}
