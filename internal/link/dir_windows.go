package link

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/internal/patient"
)

// Dir makes a symlink to a directory with an absolute path. Few users have the privilege to make symlinks; without it, Dir
// makes a junction, which needs none, but can't lead to another machine.
func Dir(from, to string) error {
	err := os.Symlink(from, to)
	if err == nil {
		_, err = os.Lstat(to) // Wine reports success without making one
	}
	if errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD) || errors.Is(err, fs.ErrNotExist) {
		return junction(from, to)
	}
	return err
}

func junction(from, to string) error {
	err := os.Mkdir(to, 0o777)
	if err != nil {
		return err
	}
	if err = setJunction(to, junctionData(from)); err == nil {
		_, err = os.Stat(to) // Windows makes junctions to other machines, but doesn't follow them
	}
	if err != nil {
		err = errors.Join(&os.LinkError{Op: "junction", Old: from, New: to, Err: err}, patient.Remove(to))
	}
	return err
}

// setJunction makes a junction of an empty directory.
func setJunction(dir string, data []byte) error {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return err
	}
	var written uint32
	err = windows.DeviceIoControl(handle, windows.FSCTL_SET_REPARSE_POINT, &data[0], uint32(len(data)), nil, 0, &written, nil)
	return errors.Join(err, windows.CloseHandle(handle))
}
