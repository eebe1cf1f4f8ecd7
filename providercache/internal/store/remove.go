package store

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

// Removal is the result of a Remove.
type Removal struct {
	Removed []Package
	Kept    []Kept
	Freed   int64 // bytes that became free on the disk
	Shared  int64 // bytes that didn't, because other directories have hard links to the same files
	// SharedWith are these directories, if they are known, sorted.
	SharedWith []string
}

// Kept is a package that wasn't removed.
type Kept struct {
	Package
	Why error // ErrInUse, ErrUnmanaged, or the file system's error
}

var (
	// ErrInUse says that another process works with the package, or that a
	// directory would lose it, because it has a symbolic link to it.
	ErrInUse = errors.New("it is in use")
	// ErrUnmanaged says that a package of a cache that the user named has no
	// receipt: Terraform or another user may have put it there.
	ErrUnmanaged = errors.New("it has no receipt, so another program may have put it there")
)

// RemoveOptions say how careful Remove has to be.
type RemoveOptions struct {
	DryRun bool // only report
	Linked bool // also remove packages to which directories have symbolic links
	Others bool // also remove packages without a receipt from a named cache
}

// Remove removes packages that List has returned. It renames each package out of the way, under
// its file lock, before it removes any file, so that no reader sees half a package; a package
// whose file lock is held stays. A directory that was about to get a removed package fetches it
// again. The error is the cause of ctx; done has what was removed until then.
func (u *Maintenance) Remove(ctx context.Context, packages []Package, o RemoveOptions) (done Removal, err error) {
	var removed []*detached
	defer func() {
		for _, t := range removed {
			t.end()
		}
	}()
	for _, p := range packages {
		if err = ctx.Err(); err != nil {
			err = context.Cause(ctx)
			break
		}
		t, why := u.detach(p, o)
		if why != nil {
			done.Kept = append(done.Kept, Kept{p, why})
			continue
		}
		removed = append(removed, t)
	}
	removed = u.restoreLinked(removed, o, &done)
	measure(removed, &done)
	u.forget(ctx, removed, o)
	for _, t := range removed {
		done.Removed = append(done.Removed, t.Package)
	}
	return done, err
}

// detached is a package that was renamed in order to be removed.
type detached struct {
	Package
	stage  *staging.Stage // nil: a dry run, so the package is in its place
	unlock func()
}

// at returns the package's current path.
func (t *detached) at() string {
	if t.stage == nil {
		return t.Dir
	}
	return t.stage.PackagePath()
}

// end removes the package's files, and releases its file lock.
func (t *detached) end() {
	if t.stage != nil {
		t.stage.Remove()
	}
	t.unlock()
}

// stays returns why a package may not be removed, or nil if it may.
func (u *Maintenance) stays(p Package, o RemoveOptions) error {
	switch {
	case len(p.Linked) > 0 && !o.Linked:
		return ErrInUse
	case u.Cache.Shared && !p.Managed && !o.Others:
		return ErrUnmanaged
	default:
		return nil
	}
}

// detach renames a package out of the way, or returns why it stays.
func (u *Maintenance) detach(p Package, o RemoveOptions) (t *detached, why error) {
	if why := u.stays(p, o); why != nil {
		return nil, why
	}
	if why := scratch.CheckLinks(u.Cache.Dir, p.Dir); why != nil {
		return nil, why
	}
	if o.DryRun {
		return &detached{Package: p, unlock: func() {}}, nil
	}
	unlock, err := u.Cache.tryLockPackage(p.Name())
	if err != nil {
		return nil, ErrInUse
	}
	defer func() {
		if why != nil {
			unlock()
		}
	}()
	stage, err := staging.New(u.Cache.Dir)
	if err != nil {
		return nil, err
	}
	if err := patient.Rename(p.Dir, stage.PackagePath()); err != nil {
		stage.Remove()
		return nil, err
	}
	return &detached{p, stage, unlock}, nil
}

// restoreLinked checks for links to the detached packages again, and puts back
// those that have any: a link that was made before the rename is noted by now.
func (u *Maintenance) restoreLinked(removed []*detached, o RemoveOptions, done *Removal) (rest []*detached) {
	if o.DryRun || o.Linked || len(removed) == 0 {
		return removed
	}
	using := u.uses()
	for _, t := range removed {
		if using.needs(t.Name(), filepath.Join(using.root, filepath.FromSlash(t.Name()))) && patient.Rename(t.at(), t.Dir) == nil {
			done.Kept = append(done.Kept, Kept{t.Package, ErrInUse})
			t.end()
			continue
		}
		rest = append(rest, t)
	}
	return rest
}

// forget removes the receipts and notes of removed packages, and directories that became empty.
func (u *Maintenance) forget(ctx context.Context, removed []*detached, o RemoveOptions) {
	if o.DryRun || len(removed) == 0 {
		return
	}
	at, last := u.view(), openNotes(u.StateDir, lastUsesDir, u.Cache.Dir)
	for _, t := range removed {
		at.Own.File.Remove(t.Name())
		last.Remove(t.Name())
		scratch.RemoveEmpty(u.Cache.parents(t.Name()))
	}
	_, _ = at.Own.File.Save(ctx), last.Save(ctx)
}

// parents returns the directories of the cache above a package, outermost first.
func (c *Store) parents(name string) (dirs []string) {
	for dir := filepath.Dir(filepath.FromSlash(name)); dir != "."; dir = filepath.Dir(dir) {
		dirs = append(dirs, filepath.Join(c.Dir, dir))
	}
	slices.Reverse(dirs)
	return dirs
}

// measure finds out, before packages are removed, how much space that
// frees: a file with further names outside of the packages frees none.
func measure(removed []*detached, done *Removal) {
	names, files := map[receipt.Inode]int{}, map[receipt.Inode]fs.FileInfo{}
	sizes := map[receipt.Inode]int64{}
	with := map[string]bool{}
	for i, t := range removed {
		for path := range receipt.Files(t.at()) {
			stat, err := receipt.Lstat(path)
			info, infoErr := os.Lstat(path)
			if err != nil || infoErr != nil {
				continue
			}
			file := receipt.Inode{Device: stat.Device, Number: stat.Inode}
			if stat.Inode == 0 {
				file.Number = uint64(i)<<32 + uint64(len(names)) // without inodes, each file counts for itself
			}
			names[file]++
			files[file], sizes[file] = info, stat.Allocated
		}
	}
	elsewhere := false
	for file, info := range files {
		if linkCount(info) > uint64(names[file]) {
			done.Shared += sizes[file]
			elsewhere = true
		} else {
			done.Freed += sizes[file]
		}
	}
	if elsewhere {
		for _, t := range removed {
			t.sharedWith(with)
		}
	}
	done.SharedWith = slices.Sorted(maps.Keys(with))
}

// sharedWith adds the directories that have hard links to files of the package.
func (t *detached) sharedWith(with map[string]bool) {
	for _, user := range t.Users {
		if with[user] || slices.Contains(t.Linked, user) {
			continue
		}
		theirs := filepath.Join(user, filepath.FromSlash(t.Name()))
		for path := range receipt.Files(t.at()) {
			ours, oursErr := os.Lstat(path)
			other, otherErr := os.Lstat(theirs + strings.TrimPrefix(path, t.at()))
			if oursErr == nil && otherErr == nil && os.SameFile(ours, other) {
				with[user] = true
				break
			}
		}
	}
}
