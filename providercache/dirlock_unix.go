//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package providercache

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock that a file stands for, and makes the file if it
// isn't there. It is flock(2), which belongs to the open file: two goroutines
// exclude each other as two processes do, and it ends with the process. errHeld:
// somebody else has it; any other error means that there are no locks here.
func tryLock(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666) // for everybody who shares the directory
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, err
}
