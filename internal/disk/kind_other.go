//go:build !linux && !darwin && !windows

package disk

// kindOf would say which file system a directory is on; of this system it isn't known.
func kindOf(string) string { return "" }
