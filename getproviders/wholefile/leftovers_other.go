//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package wholefile

import (
	"os"
	"runtime"
)

func lock(*os.File) {}

// removeUnlocked removes a file that nobody holds. On Windows one that is open
// can't be removed; elsewhere nobody can tell, and it stays.
func removeUnlocked(path string) {
	if runtime.GOOS == "windows" {
		_ = os.Remove(path)
	}
}
