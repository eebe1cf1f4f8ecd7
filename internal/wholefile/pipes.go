package wholefile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// ReadAny is Read for all files that can be opened, because users pass configuration through pipes. A pipe that nobody writes
// blocks until ctx is done; the error is the cause of ctx then.
func ReadAny(ctx context.Context, path string, max int64) ([]byte, error) {
	read := func() ([]byte, error) {
		file, err := patient.Open(path, 0)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return readAll(file, path, max)
	}

	if !mayWait(path) {
		return read()
	}
	return interruptible(ctx, read)
}

// ReadFrom reads all of a stream of this process, such as stdin, as ReadAny does. The name is for errors.
func ReadFrom(ctx context.Context, stream io.Reader, name string, max int64) ([]byte, error) {
	return interruptible(ctx, func() ([]byte, error) { return readAll(stream, name, max) })
}

// writeGrace is how long a write may take after its context is done: a report of a run that was interrupted is still
// written where somebody reads it.
const writeGrace = 500 * time.Millisecond

// Append writes to the end of an existing file of any kind. A pipe that nobody reads blocks until shortly after ctx is done;
// the error is the cause of ctx then.
func Append(ctx context.Context, path string, content []byte) error {
	write := func() (written int, err error) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return 0, err
		}

		written, err = file.Write(content)
		return written, errors.Join(err, file.Close())
	}

	if !mayWait(path) {
		_, err := write()
		return err
	}

	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(writeGrace, func() { cancel(context.Cause(ctx)) })
	})
	defer stop()

	_, err := interruptible(late, write)
	return err
}

// Open opens a file of any kind that is written from beginning to end of a run, such as a log. A pipe that nobody reads blocks
// until ctx is done; the error is the cause of ctx then. The caller closes the file.
func Open(ctx context.Context, path string, flag int, mode fs.FileMode) (*os.File, error) {
	open := func() (*os.File, error) { return os.OpenFile(path, flag, mode) }

	if !mayWait(path) {
		return open()
	}
	return interruptible(ctx, open)
}

// mayWait reports whether opening, reading or writing a path may wait for another process, because it is a pipe or a device.
func mayWait(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// interruptible returns when f does, or with the cause of ctx when that is done. f may go on then, until the other side of the pipe
// comes or the process ends: no system call ends the opening of a pipe.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	result, failed, err := par.Interruptible(ctx, func(context.Context) (T, error) { return f() })
	return result, cmp.Or(err, failed)
}
