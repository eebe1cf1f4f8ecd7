package disk

import "golang.org/x/sys/unix"

// kindOf returns the file system's type from statfs.
func kindOf(dir string) string {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return ""
	}
	return unix.ByteSliceToString(stat.Fstypename[:])
}
