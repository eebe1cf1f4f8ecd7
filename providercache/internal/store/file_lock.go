package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// LocksDir holds the lock files of a cache, for file locks. They are
// never removed: if another process had one open while it is removed,
// that process would lock a file that no other process finds.
const LocksDir = ".locks"

// packagePoll says how often a held file lock is tried again: soon at first, because
// linking a package takes moments. Fetching one takes as long as the network does.
var packagePoll = filelock.Poll{First: 2 * time.Millisecond, Last: 100 * time.Millisecond, Limit: time.Hour}

// LockPackage waits until no other process works on a package of the cache, and returns a
// function that releases the file lock. The lock saves duplicate work, and correctness
// doesn't depend on it: it returns at once if the file system has no file locks, or another
// user owns the lock file. The error is ctx's cause, or a *filelock.HeldError.
func LockPackage(ctx context.Context, c *Store, name string) (unlock func(), err error) {
	return c.lockPackage(name, func(file string) (*os.File, error) { return filelock.Wait(ctx, file, packagePoll) })
}

// EachLocked locks the packages of items, whose names in the store name returns, and calls do
// with the items that it holds: as many at once as are free, until do was called for all, or
// ctx has ended. It waits only while it holds no lock, which rules out deadlocks.
func EachLocked[T any](ctx context.Context, c *Store, items []T, name func(T) string, do func(held []T)) {
	for len(items) > 0 {
		unlock, err := LockPackage(ctx, c, name(items[0]))
		if err != nil {
			return
		}
		held, unlocks, others := items[:1:1], []func(){unlock}, []T(nil)
		for _, item := range items[1:] {
			if unlock, err := c.tryLockPackage(name(item)); err != nil {
				others = append(others, item)
			} else {
				held, unlocks = append(held, item), append(unlocks, unlock)
			}
		}
		do(held)
		for _, unlock := range unlocks {
			unlock()
		}
		items = others
	}
}

// tryLockPackage is LockPackage without waiting: the error is filelock.ErrHeld
// if another process holds the lock.
func (c *Store) tryLockPackage(name string) (unlock func(), err error) {
	unlock, err = c.lockPackage(name, filelock.Try)
	if err != nil && !errors.Is(err, filelock.ErrHeld) {
		return func() {}, nil
	}
	return unlock, err
}

// lockPackage takes the file lock of a package.
func (c *Store) lockPackage(name string, take func(file string) (*os.File, error)) (unlock func(), err error) {
	dir := filepath.Join(c.Dir, LocksDir)
	if _, err := scratch.MakeDirs(dir); err != nil {
		return func() {}, nil
	}
	held, err := take(filepath.Join(dir, strings.ReplaceAll(name, "/", "+")))
	if err != nil {
		return nil, err
	}
	return func() { held.Close() }, nil
}
