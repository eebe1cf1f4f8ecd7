// Package filelock has the only file lock of this module. It is shared by several packages; it
// isn't an API for others.
//
//	held, err := filelock.Wait(ctx, path, filelock.Poll{First: 2 * time.Millisecond, Last: 100 * time.Millisecond, Limit: time.Minute})
//	if err != nil {
//		return err // the cause of ctx, or a *HeldError
//	}
//	defer held.Close()
//
// A lock belongs to an open file: two goroutines exclude each other as two processes do, and the
// lock ends with the process. It is advisory: it keeps out only those who ask for it. It may only
// save double work, never protect anything, because some file systems have no locks (some mounts of
// NFS, some containers). On them [Wait] returns at once and locks nothing, and the Try functions
// return an error that isn't [ErrHeld].
//
// A lock file names the process that has the lock, or had it last. Only its user can open it,
// symlinks to it aren't followed, and unlocking doesn't remove it. A process that removes a lock
// file while another one opens it lets that one have a lock of its own.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

// ErrHeld means that another process, or another part of this one, has the lock.
var ErrHeld = errors.New("the file lock is held")

// HeldError means that a lock was held for too long. It matches [ErrHeld].
type HeldError struct {
	Path   string
	Holder string // the process that has it: "process 4711 on build-7"; "" if unknown
	Waited time.Duration
}

// Error implements error.
func (e *HeldError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "a process that can't be seen"
	}
	return fmt.Sprintf("%s has held the file lock %s for more than %s: wait until it is done, or end it", holder, e.Path, e.Waited)
}

// Code returns "file_lock_held".
func (e *HeldError) Code() string { return "file_lock_held" }

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Poll sets how often Wait tries to take a lock: after First, then after twice as long each time,
// but at most Last; it gives up after Limit.
type Poll struct{ First, Last, Limit time.Duration }

// Try takes the lock of the file at path, and creates the file, for this user alone, if it doesn't
// exist. Closing the file releases the lock. The error is [ErrHeld] if the lock is held; any other
// error means that locks don't work here.
func Try(path string) (*os.File, error) {
	file, err := try(path, os.O_RDWR|os.O_CREATE|openPlain, 0o600)
	if err == nil {
		sign(file)
	}
	return file, err
}

// maxSigned is the maximum size of a lock file, in bytes.
const maxSigned = 300

var hostname = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// sign writes this process's id and host into a lock file. It leaves other files unchanged.
func sign(file *os.File) {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 && holder(file) == "" {
		return
	}
	text := fmt.Sprintf("process %d on %.200s", os.Getpid(), hostname())
	if _, err := file.WriteAt([]byte(text), 0); err == nil {
		_ = file.Truncate(int64(len(text)))
	}
}

// holder returns what sign wrote, or "" if the file has other content.
func holder(file io.ReaderAt) string {
	text := make([]byte, maxSigned+1)
	n, _ := file.ReadAt(text, 0)
	if n > maxSigned || !isSigned(string(text[:n])) {
		return ""
	}
	return string(text[:n])
}

// isSigned reports whether a text has the form that sign writes: "process 123 on host".
func isSigned(text string) bool {
	rest, ok := strings.CutPrefix(text, "process ")
	id, host, named := strings.Cut(rest, " on ")
	isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
	return ok && named && id != "" && strings.Trim(id, "0123456789") == "" && !strings.ContainsFunc(host, isControl)
}

// holderOf returns the holder of another process's lock file.
func holderOf(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|openPlain, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	return holder(file)
}

// TryExisting is [Try] for an existing file. It doesn't follow a symlink at path, and doesn't wait
// for the other end of a pipe.
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

// TryFile takes the lock of an open file, until the file is closed. Errors are those of [Try].
func TryFile(file *os.File) error { return lock(file) }

// Wait takes the lock of the file at path as soon as it is free. Closing the file releases the
// lock. If locks don't work here, Wait returns a nil file at once; closing that is safe. The error
// is the cause of ctx, which isn't checked if the lock is free at once, or a *HeldError after
// poll.Limit.
func Wait(ctx context.Context, path string, poll Poll) (*os.File, error) {
	var waited time.Duration
	for wait := poll.First; ; wait = min(2*wait, poll.Last) {
		held, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return held, nil
		}
		if waited >= poll.Limit {
			return nil, &HeldError{Path: path, Holder: holderOf(path), Waited: poll.Limit}
		}
		waited += wait
		if err := par.Pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}
