//go:build !unix

package scratch

import "io/fs"

// ownedByUser is true: each user has a directory for temporary files.
func ownedByUser(fs.FileInfo) bool { return true }
