//go:build !unix

package owner

import "os"

// ChangedByOthers returns the first of a directory and of packages below it whose access list names other users than
// this one, the system and the administrators; "" if there is none. What doesn't exist inherits the list of what is above it.
func ChangedByOthers(root string, packages ...string) (path string) {
	for _, at := range append([]string{root}, packages...) {
		if _, err := os.Lstat(at); err == nil && !Exclusive(at) {
			return at
		}
	}
	return ""
}
