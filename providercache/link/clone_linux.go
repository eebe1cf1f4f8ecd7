package link

import (
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile makes a file that shares its blocks with another one.
func cloneFile(file original, to string) error {
	return makeFrom(file, to, func(target, source *os.File) error {
		if err := unix.IoctlFileClone(int(target.Fd()), int(source.Fd())); err != nil {
			return &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: err}
		}
		return nil
	})
}
