//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package git

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes a lock if nobody has it.
func tryLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, errHeld
	}
	return nil, err
}
