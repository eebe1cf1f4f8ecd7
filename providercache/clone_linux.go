package providercache

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile makes a file that shares its blocks with another one.
func cloneFile(file original, to string) error {
	source, err := os.Open(file.Path)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = unix.IoctlFileClone(int(target.Fd()), int(source.Fd())); err != nil {
		err = &os.LinkError{Op: "clone", Old: file.Path, New: to, Err: err}
	}
	return errors.Join(err, target.Chmod(file.Info.Mode().Perm()), target.Close())
}
