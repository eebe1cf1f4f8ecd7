//go:build !(unix || windows)

package owner

import "io/fs"

const openPlain = 0

// isPrivate, isRoots and exclusive: nothing is known of owners here, so no
// receipts are kept.
func isPrivate(string, fs.FileInfo) bool { return false }

func isRoots(fs.FileInfo) bool { return false }

func exclusive(string) bool { return false }

// isOwn is for hard links, which the system may refuse by itself.
func isOwn(fs.FileInfo) bool { return true }
