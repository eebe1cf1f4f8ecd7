package providercache

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// locksDir holds the lock files of a cache. They are empty, and stay: to
// remove one while another process opens it would give that one a lock of its
// own.
const locksDir = ".locks"

// How often it is asked whether a lock is free: soon at first, because a
// package that is only linked takes moments.
const (
	firstPoll = 2 * time.Millisecond
	lastPoll  = 100 * time.Millisecond
)

var errHeld = errors.New("the lock is held")

// lockPackage waits until nobody else works on a package of the cache, and
// returns what ends that. It saves double work and no more: where there are no
// locks, it returns at once. The error is ctx's cause.
func (c *Store) lockPackage(ctx context.Context, name string) (unlock func(), err error) {
	dir := filepath.Join(c.Dir, locksDir)
	if _, err := makeDirs(dir); err != nil {
		return func() {}, nil
	}
	path := lockFile(dir, name)
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		held, err := tryLock(path)
		switch {
		case err == nil:
			return closing(held), nil
		case !errors.Is(err, errHeld):
			return func() {}, nil
		}
		if err := par.Pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// eachLocked calls do with packages of the cache that it has locked, by their
// places in names: as many at once as nobody else works on, until all have had
// their turn. It waits only when it holds no lock, so that nobody waits for
// somebody who waits. left are those that had none, because ctx ended.
func (c *Store) eachLocked(ctx context.Context, names []string, do func(held []int)) (left []int) {
	for i := range names {
		left = append(left, i)
	}
	for len(left) > 0 {
		unlock, err := c.lockPackage(ctx, names[left[0]])
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

func closing(held io.Closer) func() {
	return func() { held.Close() }
}
