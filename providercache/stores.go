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
	// read it: a target such as ".terraform/providers", or a cache. Shared means that other programs use the cache, too.
	// Its methods are PackagePath, which returns the path of a package, IsSameAs, which compares it with another Store, and Place,
	// which describes its file system.
	Store = store.Store
	// Maintenance lists, verifies and removes the packages of a Cache, while others install. Fetcher.Maintain makes one, and sets its
	// fields Cache, StateDir, Now and Emit. Its methods are List, Verify, Remove, Collect, Sweep and Exposed.
	Maintenance = store.Maintenance
	// StoredPackage is a package of a cache: its size, its users, and what is known of its content.
	StoredPackage = store.Package
	// Condition is what is known of a stored package's content without reading it.
	Condition = store.Condition
	// CollectPolicy says which packages Maintenance.Collect removes: those that were last used longer than OlderThan ago, and the least
	// recently used ones until the rest takes no more than *MaxBytes, but none of Keep. With Keep alone it removes all others.
	CollectPolicy = store.Policy
	// Removal lists the packages that were removed and those that were kept.
	Removal = store.Removal
	// RemoveOptions say how careful Maintenance.Remove is: DryRun only reports; Linked also removes packages to which directories have
	// symbolic links; Others also removes those without a receipt from a cache that the user named.
	RemoveOptions = store.RemoveOptions
	// Kept is a package that wasn't removed, and why.
	Kept = store.Kept
	// Verified is a package that Maintenance.Verify has read.
	Verified = store.Verified
	// Finding is the result of verifying a package, or of comparing it with a lock file.
	Finding = store.Finding

	// ReadTree is the result of ReadTrees for one directory.
	ReadTree = store.ReadTree
	// ReadPackage is a package that was read from its first byte to its last.
	ReadPackage = store.ReadPackage
	// ComparedPackage is a ReadPackage compared with a lock file.
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
	Corrupt    = store.Corrupt    // Verify: it differs from its receipt, or can't be read, or is no provider
	Unknown    = store.Unknown    // Verify: neither a receipt nor a lock file says what it should be
	Missing    = store.Missing    // Compare: the lock file selects it, but the directory doesn't have it
	Dangling   = store.Dangling   // Compare: its path is a symbolic link to nothing
	Differs    = store.Differs    // Compare: the lock file has hashes of the right kind, but none is that of this package
	Unproven   = store.Unproven   // Compare: the lock file has no hash that a package in this form can have
	Unreadable = store.Unreadable // Compare: it can't be hashed
)

// The ways of linking a package from a cache into a target.
const (
	LinkAuto     = link.Auto // the best that works between the two directories
	LinkClone    = link.Clone
	LinkHardlink = link.Hardlink
	LinkSymlink  = link.Symlink
	LinkCopy     = link.Copy
)

var (
	// ErrInUse says that another process works with the package, or that a directory has a symbolic link to it.
	ErrInUse = store.ErrInUse
	// ErrUnmanaged says that a package has no receipt: another program may have put it there.
	ErrUnmanaged = store.ErrUnmanaged
)

// OpenCache returns the cache in a directory; named says that the user chose it. It returns an error if the directory can't
// serve as a cache: tfdeps' own cache has to belong to this user or to root, unless root runs this. The caller may go on
// without a cache.
func OpenCache(dir string, named bool) (*Store, error) { return store.OpenCache(dir, named) }

// PackageSpecs returns the packages that lock files select, sorted by address and
// version, each version once with all its hashes. It never returns nil.
func PackageSpecs(locks ...*depsfile.Locks) []getproviders.PackageSpec {
	return store.PackageSpecs(locks...)
}

// ReadTrees hashes every package in dirs, each of which has a cache's or a mirror's layout. It ignores receipts,
// writes nothing and sends no requests. The results are in the order of dirs; the error is the cause of ctx.
func ReadTrees(ctx context.Context, dirs []string, observe func(context.Context, event.Event)) ([]ReadTree, error) {
	return store.ReadTrees(ctx, dirs, (&Fetcher{Observe: observe}).Opened().Emit)
}

// Maintain returns a Maintenance of a cache with the StateDir and the clock of the Fetcher, whose Observe gets its events.
func (f *Fetcher) Maintain(cache *Store) *Maintenance {
	opened := f.Opened()
	return &Maintenance{Cache: cache, StateDir: opened.StateDir, Now: opened.Now, Emit: opened.Emit}
}
