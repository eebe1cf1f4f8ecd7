//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package wholefile

import (
	"os"
	"syscall"
)

// lock keeps others from taking the file for one that was left behind. It ends
// when the file is closed, be it by the end of the process.
func lock(file *os.File) { _ = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// removeUnlocked removes a file that nobody holds. Where there are no locks,
// nobody can tell, and it stays.
func removeUnlocked(path string) {
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.Remove(path)
	}
}
