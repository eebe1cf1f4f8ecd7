package staging

import "golang.org/x/sys/unix"

// exchange swaps the files or directories at two paths of one file system,
// atomically. The error may mean that the file system doesn't support it.
func exchange(a, b string) error {
	return unix.RenamexNp(a, b, unix.RENAME_SWAP)
}
