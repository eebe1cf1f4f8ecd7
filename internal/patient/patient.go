// Package patient renames, removes and opens files like package os. On Windows it retries if another program, such as
// a virus scanner or an indexer, has the file open, because Windows refuses that then. It is shared by several
// packages of this module; it isn't an API for others.
package patient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// patience is how long a step is retried.
const patience = 2 * time.Second

// ErrHeld is matched by errors that remained for all of that time.
var ErrHeld = errors.New("another program may have a file open")

// Rename is os.Rename. If to is a directory, it doesn't retry: no system replaces one that isn't empty.
func Rename(from, to string) error {
	return Try(func() error { return os.Rename(from, to) }, to)
}

// Remove is os.Remove.
func Remove(path string) error {
	return Try(func() error { return os.Remove(path) })
}

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error {
	return Try(func() error { return os.RemoveAll(path) })
}

// Open opens a file for reading, with further flags.
func Open(path string, flags int) (file *os.File, err error) {
	err = Try(func() error {
		file, err = os.OpenFile(path, os.O_RDONLY|flags, 0)
		return err
	})
	return file, err
}

// OpenRegular opens a regular file for reading; anything else is an error. Stat comes first, because opening a named pipe would block.
func OpenRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := Open(path, 0)
	return file, info, err
}

// Try runs step, and retries it for two seconds while its error means that another program has a file open, unless one
// of paths is a directory. It returns the last error.
func Try(step func() error, paths ...string) error {
	return try(step, isHeld, paths, time.Sleep)
}

func try(step func() error, isHeld func(error) bool, paths []string, sleep func(time.Duration)) error {
	wait := time.Millisecond
	for waited := time.Duration(0); ; waited, wait = waited+wait, 2*wait {
		err := step()
		switch {
		case err == nil || !isHeld(err):
			return err
		case waited >= patience:
			return fmt.Errorf("%w (%w)", err, ErrHeld)
		}
		for _, path := range paths {
			if info, statErr := os.Lstat(path); statErr == nil && info.Mode()&fs.ModeDir != 0 {
				return err
			}
		}
		sleep(wait)
	}
}
