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
func (c *Cache) lockPackage(ctx context.Context, name string) (unlock func(), err error) {
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

// lockFile is the file that stands for the lock of a package.
func lockFile(dir, name string) string {
	return filepath.Join(dir, strings.ReplaceAll(name, "/", "+"))
}

func closing(held io.Closer) func() {
	return func() { held.Close() }
}
