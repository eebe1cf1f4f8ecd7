package git

import (
	"context"
	"errors"
	"os"
	"time"
)

// lockPause is how long to wait before a lock is tried again that another
// process holds.
const lockPause = 20 * time.Millisecond

// errHeld says that another process holds a lock.
var errHeld = errors.New("the lock is held")

// holdLock waits for a lock that other processes honour, and that ends with
// this one; closing the file gives it back. The file is nil where the file
// system has no locks. The error is the cause of ctx.
func holdLock(ctx context.Context, path string) (*os.File, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		file, err := tryLock(path)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, nil
		}
		time.Sleep(lockPause)
	}
}
