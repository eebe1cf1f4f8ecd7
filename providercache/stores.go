package providercache

import (
	"context"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/link"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

type (
	// Store is a directory Dir of unpacked packages in the layout host/namespace/type/version/os_arch, as Terraform and OpenTofu
	// read it: a target such as ".terraform/providers", or a cache. Shared says of a cache that other programs use it, too.
	Store = store.Store
	// Place is what can be told of where a Store is, without writing anything there.
	Place = store.Place

	// Maintenance lists, verifies and removes the packages of a Cache, while others install.
	Maintenance = store.Maintenance
	// StoredPackage is a package of a cache: how large it is, who uses it, and what is known of its content.
	StoredPackage = store.Package
	// Condition is what is known of a stored package's content without reading it.
	Condition = store.Condition
	// CollectPolicy says which packages Maintenance.Collect removes.
	CollectPolicy = store.Policy
	// Locked is what lock files select; see LockedBy.
	Locked = store.Locked
	// Removal is what was removed and what wasn't, and RemoveOptions say how careful Maintenance.Remove is.
	Removal = store.Removal
	// RemoveOptions say how careful Maintenance.Remove is.
	RemoveOptions = store.RemoveOptions
	// Kept is a package that wasn't removed, and why.
	Kept = store.Kept
	// Verified is a package that Maintenance.Verify has read.
	Verified = store.Verified
	// Finding is what came of reading it.
	Finding = store.Finding

	// ReadTree is a directory of packages that ReadTrees has read, and ReadPackage one of its packages.
	ReadTree = store.ReadTree
	// ReadPackage is a package that was read from its first byte to its last.
	ReadPackage = store.ReadPackage
	// ComparedPackage is a ReadPackage in the light of a lock file; CompareOptions say what the tree is for.
	ComparedPackage = store.ComparedPackage
	// CompareOptions say what a tree is for.
	CompareOptions = store.CompareOptions
	// TreeFinding is what came of comparing.
	TreeFinding = store.TreeFinding

	// LinkMode says how a package gets from the cache into a target. The zero value is LinkAuto.
	LinkMode = link.Mode
)

// Findings of Maintenance.Verify.
const (
	OK        = store.OK        // its hash is what its receipt or a lock file records
	Corrupt   = store.Corrupt   // it isn't what its receipt says, or can't be read, or is no provider
	NotLocked = store.NotLocked // a lock file selects the version, and has none of its hashes
	Unknown   = store.Unknown   // neither a receipt nor a lock file says what it should be
)

// Findings of ReadTree.Compare.
const (
	TreeOK         = store.TreeOK
	TreeDiffers    = store.TreeDiffers
	TreeNotLocked  = store.TreeNotLocked
	TreeUnproven   = store.TreeUnproven
	TreeMissing    = store.TreeMissing
	TreeDangling   = store.TreeDangling
	TreeUnreadable = store.TreeUnreadable
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
	// ErrChangedByOthers says why no symbolic or hard link is made: other users can change what it would lead to.
	ErrChangedByOthers = link.ErrChangedByOthers
)

// OpenCache returns the cache in a directory; named says that the user chose it. The error says why the directory can't serve
// as one: tfdeps' own cache has to belong to this user or to root. The caller may go on without a cache.
func OpenCache(dir string, named bool) (*Store, error) { return store.OpenCache(dir, named) }

// UsableState returns the directory if receipts may be kept in it, else "": one that belongs to another user isn't used.
func UsableState(dir string) string { return store.UsableState(dir) }

// LockedBy gathers what lock files select, with all their hashes for each version. It isn't nil, even if nothing is selected.
func LockedBy(locks ...*depsfile.Locks) Locked { return store.LockedBy(locks...) }

// PackageSpecs lists what lock files select, in the order of addresses and versions.
func PackageSpecs(locked Locked) []getproviders.PackageSpec { return store.PackageSpecs(locked) }

// KeyPrefix begins the keys that Locked.Key makes for a platform. It changes when caches with an older key become useless.
func KeyPrefix(plat getproviders.Platform) string { return store.KeyPrefix(plat) }

// ReadTrees hashes every package of directories, whether in a cache's or in a mirror's layout. No receipt counts, nothing is
// written and no request is made. The results belong to dirs, in their order; the error is the cause of ctx.
func ReadTrees(ctx context.Context, dirs []string, observe func(context.Context, event.Event)) ([]ReadTree, error) {
	return store.ReadTrees(ctx, dirs, observe)
}

// ParseLinkMode reads a LinkMode's name: auto, clone, hardlink, symlink or copy.
func ParseLinkMode(given string) (LinkMode, error) { return link.ParseMode(given) }

// LinkOrder returns the ways that LinkAuto, or what was asked for, tries for packages of a cache, best first, and why a better
// one is left out.
func LinkOrder(asked LinkMode, cache string, shared bool, packages ...string) (modes []LinkMode, reason error) {
	return link.Order(asked, cache, shared, packages...)
}

// LinkTree puts the tree at from to a path that doesn't exist yet, in the first way that works. reason is why in no better one.
func LinkTree(ctx context.Context, from, to string, modes []LinkMode) (used LinkMode, reason, err error) {
	return link.Tree(ctx, from, to, modes)
}
