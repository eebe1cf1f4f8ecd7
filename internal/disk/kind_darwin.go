package disk

import "golang.org/x/sys/unix"

// kindOf asks the system.
func kindOf(dir string) string {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return ""
	}
	return unix.ByteSliceToString(stat.Fstypename[:])
}
