//go:build !unix

package depsfile

import "io/fs"

// ownedByUser is always false, because FileInfo has no owner on this system.
func ownedByUser(fs.FileInfo) bool { return false }
