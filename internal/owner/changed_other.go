//go:build !unix

package owner

import "os"

// ChangedByOthers returns the first of root and packages whose access list lets other users than this one, the system and the
// administrators change it, or "" if none does. Paths that don't exist inherit the list of their parent.
func ChangedByOthers(root string, packages ...string) (path string) {
	for _, at := range append([]string{root}, packages...) {
		if _, err := os.Lstat(at); err == nil && !Exclusive(at) {
			return at
		}
	}
	return ""
}
