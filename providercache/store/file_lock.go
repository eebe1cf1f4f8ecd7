package store

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/filelock"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

// locksDir holds the lock files of a cache. They are empty, and stay: to
// remove one while another process opens it would give that one a lock of its
// own.
const LocksDir = ".locks"

// lockMode is for everybody who shares the directory.
const LockMode = 0o666

// packagePoll says how often it is asked whether a lock is free: soon at first,
// because a package that is only linked takes moments.
var packagePoll = filelock.Poll{First: 2 * time.Millisecond, Last: 100 * time.Millisecond}

// lockPackage waits until nobody else works on a package of the cache, and
// returns what ends that. It saves double work and no more: where there are no
// locks, it returns at once. The error is ctx's cause.
func (c *Store) LockPackage(ctx context.Context, name string) (unlock func(), err error) {
	dir := filepath.Join(c.Dir, LocksDir)
	if _, err := scratch.MakeDirs(dir); err != nil {
		return func() {}, nil
	}
	held, err := filelock.Wait(ctx, lockFile(dir, name), LockMode, packagePoll)
	if err != nil {
		return nil, err
	}
	return func() { held.Close() }, nil
}

// eachLocked calls do with packages of the cache that it has locked, by their
// places in names: as many at once as nobody else works on, until all have had
// their turn. It waits only when it holds no lock, so that nobody waits for
// somebody who waits. left are those that had none, because ctx ended.
func (c *Store) EachLocked(ctx context.Context, names []string, do func(held []int)) (left []int) {
	for i := range names {
		left = append(left, i)
	}
	for len(left) > 0 {
		unlock, err := c.LockPackage(ctx, names[left[0]])
		if err != nil {
			break
		}
		held, unlocks, others := left[:1:1], []func(){unlock}, []int(nil)
		for _, i := range left[1:] {
			unlock, err := c.tryLockPackage(names[i])
			if err != nil {
				others = append(others, i)
				continue
			}
			held, unlocks = append(held, i), append(unlocks, unlock)
		}
		do(held)
		for _, unlock := range unlocks {
			unlock()
		}
		left = others
	}
	return left
}

// lockFile is the file that stands for the lock of a package.
func lockFile(dir, name string) string {
	return filepath.Join(dir, strings.ReplaceAll(name, "/", "+"))
}
