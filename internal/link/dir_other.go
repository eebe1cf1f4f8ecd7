//go:build !windows

package link

import "os"

// Dir makes a symlink to a directory.
func Dir(from, to string) error { return os.Symlink(from, to) }
