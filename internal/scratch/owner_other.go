//go:build !unix

package scratch

import "io/fs"

// ownedByUser is true: each user has a temporary directory of their own.
func ownedByUser(fs.FileInfo) bool { return true }
