package staging

import "golang.org/x/sys/unix"

// exchange swaps what is at two paths of one file system, atomically. The
// error may mean that the file system can't.
func exchange(a, b string) error {
	return unix.RenamexNp(a, b, unix.RENAME_SWAP)
}
