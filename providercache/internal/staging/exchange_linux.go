package staging

import "golang.org/x/sys/unix"

// exchange swaps what is at two paths of one file system, atomically. The
// error may mean that the kernel or the file system can't.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
