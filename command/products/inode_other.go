//go:build !unix

package products

import "io/fs"

// inode returns 0, because fs.FileInfo has no inode on this system.
func inode(fs.FileInfo) uint64 { return 0 }
