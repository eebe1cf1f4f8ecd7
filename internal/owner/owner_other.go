//go:build !(unix || windows)

package owner

import (
	"io/fs"
	"os"
)

// OpenPlain is 0, as this system has no such flags.
const OpenPlain = 0

// IsPrivate, IsSecret, IsRoots, CanWrite and Exclusive have no information about owners on this
// system, so no receipts are kept.
func IsPrivate(string, fs.FileInfo) bool { return false }

func IsSecret(string, fs.FileInfo) bool { return false }

func IsRoots(fs.FileInfo) bool { return false }

func CanWrite(string) bool { return true }

func Chmod(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }

func Exclusive(string) bool { return false }

func isOwnWay(string, int, func(string) bool) bool { return false }

// IsOwn is true: it is for hard links, which the system may refuse by itself.
func IsOwn(fs.FileInfo) bool { return true }
