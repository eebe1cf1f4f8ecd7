//go:build !unix

package products

import "io/fs"

// inode is 0: what this system says of a file has none.
func inode(fs.FileInfo) uint64 { return 0 }
