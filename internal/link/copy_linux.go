package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// copyPiece is how much is copied between two looks at the context.
const copyPiece = 16 << 20

// copyBySystem lets the kernel copy a file, without its bytes coming by here. Holes
// stay holes. The error matches errors.ErrUnsupported where the kernel or the file
// systems can't; some of the file may be copied by then.
func copyBySystem(ctx context.Context, target, source *os.File) error {
	info, err := source.Stat()
	if err != nil {
		return err
	}
	from, size := int(source.Fd()), info.Size()
	for offset := int64(0); offset < size; {
		begin, end := nextData(from, offset, size)
		if err := copyRange(ctx, int(target.Fd()), from, begin, end); err != nil {
			return err
		}
		offset = end
	}
	return target.Truncate(size) // which may end with a hole
}

// nextData is where the next bytes are that were written, at or after an offset. Without
// holes, or where a file system doesn't report them, it is all up to the size.
func nextData(file int, offset, size int64) (begin, end int64) {
	begin, err := unix.Seek(file, offset, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, size
	case err != nil:
		return offset, size
	}
	end, err = unix.Seek(file, begin, unix.SEEK_HOLE)
	if err != nil || end <= begin {
		end = size
	}
	return min(begin, size), min(end, size)
}

func copyRange(ctx context.Context, target, source int, begin, end int64) error {
	for begin < end {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		read, written := begin, begin
		n, err := unix.CopyFileRange(source, &read, target, &written, int(min(end-begin, copyPiece)), 0)
		switch {
		case errors.Is(err, unix.EINTR):
		case slices.ContainsFunc(cantCopy, func(known error) bool { return errors.Is(err, known) }), err == nil && n == 0:
			return fmt.Errorf("the system can't copy it: %w", errors.ErrUnsupported)
		case err != nil:
			return os.NewSyscallError("copy_file_range", err)
		}
		begin += int64(max(n, 0))
	}
	return nil
}

// cantCopy is what copy_file_range says where it isn't possible: between some file
// systems, in some containers, with some bugs of kernels.
var cantCopy = []error{unix.ENOSYS, unix.EXDEV, unix.EINVAL, unix.EOPNOTSUPP, unix.EPERM, unix.EIO, unix.ETXTBSY}
