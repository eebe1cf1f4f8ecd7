// Package filelock has the one kind of file lock that this module uses. It is
// shared by several of its packages, and is no API for others.
//
//	held, err := filelock.Wait(ctx, path, filelock.Poll{First: 2 * time.Millisecond, Last: 100 * time.Millisecond, Limit: time.Minute})
//	if err != nil {
//		return err // the cause of ctx, or a *HeldError
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
// A lock file says which process has it, or had it last. Only its user can open it, no link
// is followed to it, and it stays when it is unlocked. A process that removes one while another
// process opens it gives that process a lock of its own.
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

// ErrHeld says that another process, or another part of this one, has the lock.
var ErrHeld = errors.New("the file lock is held")

// HeldError says that a lock was held for too long. It matches [ErrHeld].
type HeldError struct {
	Path   string
	Holder string // the process that has it: "process 4711 on build-7"; "" if it can't be seen
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

// Code is "file_lock_held".
func (e *HeldError) Code() string { return "file_lock_held" }

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Poll says how often it is asked whether a lock is free: after First, and then
// after twice as long each time, but never longer than Last; and that this ends after
// Limit.
type Poll struct{ First, Last, Limit time.Duration }

// Try takes the lock of the file at path, which it makes for this user alone if
// there is none. Closing the file gives the lock back. The error is [ErrHeld]
// if the lock is held; any other error means that there is no lock here.
func Try(path string) (*os.File, error) {
	file, err := try(path, os.O_RDWR|os.O_CREATE|openPlain, 0o600)
	if err == nil {
		sign(file)
	}
	return file, err
}

// maxSigned is the most that a lock file holds, in bytes.
const maxSigned = 300

var hostname = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// sign writes into a lock file which process has it. What isn't a lock file stays as it is.
func sign(file *os.File) {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 && holder(file) == "" {
		return
	}
	text := fmt.Sprintf("process %d on %.200s", os.Getpid(), hostname())
	if _, err := file.WriteAt([]byte(text), 0); err == nil {
		_ = file.Truncate(int64(len(text)))
	}
}

// holder reads what sign wrote.
func holder(file io.ReaderAt) string {
	text := make([]byte, maxSigned+1)
	n, _ := file.ReadAt(text, 0)
	if n > maxSigned || !isSigned(string(text[:n])) {
		return ""
	}
	return string(text[:n])
}

// isSigned reports whether a text is one that sign writes: "process 123 on host".
func isSigned(text string) bool {
	rest, ok := strings.CutPrefix(text, "process ")
	id, host, named := strings.Cut(rest, " on ")
	isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
	return ok && named && id != "" && strings.Trim(id, "0123456789") == "" && !strings.ContainsFunc(host, isControl)
}

// holderOf is holder for a lock file that another process has.
func holderOf(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|openPlain, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	return holder(file)
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
// looked at if the lock is free at once, or a *HeldError after poll.Limit.
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
