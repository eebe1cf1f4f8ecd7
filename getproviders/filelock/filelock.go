// Package filelock has the one kind of file lock that this module uses. It is
// shared by several of its packages, and is no API for others.
//
//	held, err := filelock.Wait(ctx, path, 0o600, filelock.Poll{First: 2 * time.Millisecond, Last: 100 * time.Millisecond})
//	if err != nil {
//		return err // the cause of ctx
//	}
//	defer held.Close()
//
// A lock belongs to an open file: two goroutines exclude each other as two
// processes do, and the lock ends with the process. It is advisory: only those who
// ask for it are kept out. Nothing may depend on it but the saving of
// double work, because there are file systems without locks (some mounts of NFS,
// some containers). There [Wait] returns at once and locks nothing, and the Try
// functions return an error that isn't [ErrHeld].
//
// A lock file stays when it is unlocked. A process that removes one while another
// process opens it gives that process a lock of its own.
package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// ErrHeld says that another process, or another part of this one, has the lock.
var ErrHeld = errors.New("the file lock is held")

// Poll says how often it is asked whether a lock is free: after First, and then
// after twice as long each time, but never longer than Last.
type Poll struct{ First, Last time.Duration }

// Try takes the lock of the file at path, which it makes with the mode perm if
// there is none. Closing the file gives the lock back. The error is [ErrHeld]
// if the lock is held; any other error means that there is no lock here.
func Try(path string, perm fs.FileMode) (*os.File, error) {
	return try(path, os.O_RDWR|os.O_CREATE, perm)
}

// TryExisting is [Try] for a file that has to be there. It follows no link at
// path, and waits for no other end of a pipe.
func TryExisting(path string) (*os.File, error) {
	return try(path, os.O_RDWR|openPlain, 0)
}

func try(path string, flags int, perm fs.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flags, perm)
	if err != nil {
		return nil, err
	}
	if err := TryFile(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// TryFile takes the lock of an open file, which lasts until the file is closed.
// Errors are those of [Try].
func TryFile(file *os.File) error { return lock(file) }

// Wait takes the lock of the file at path as soon as it is free. Closing
// the file gives the lock back. Where there are no locks, Wait returns nil at
// once, which may be closed, too. The error is the cause of ctx, which is not
// looked at if the lock is free at once.
func Wait(ctx context.Context, path string, perm fs.FileMode, poll Poll) (*os.File, error) {
	for wait := poll.First; ; wait = min(2*wait, poll.Last) {
		held, err := Try(path, perm)
		if !errors.Is(err, ErrHeld) {
			return held, nil
		}
		if err := par.Pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}
