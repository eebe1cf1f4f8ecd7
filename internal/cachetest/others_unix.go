//go:build !windows

package cachetest

import "os"

// OpenToAll lets every user of the system change a file or directory: by its mode here, by its access list on
// Windows.
func OpenToAll(path string) error { return os.Chmod(path, 0o777) }
