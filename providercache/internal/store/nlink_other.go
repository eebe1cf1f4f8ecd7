//go:build !unix

package store

import (
	"io/fs"
)

// linkCount is always 1, because FileInfo has no link count on this system.
func linkCount(fs.FileInfo) uint64 { return 1 }
