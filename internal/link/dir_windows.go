package link

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/internal/patient"
)

// Dir makes a symbolic link to a directory, whose path is absolute. To make one is a privilege that few users have: without
// it, it is a junction, which needs none, and can't lead to another machine.
func Dir(from, to string) error {
	err := os.Symlink(from, to)
	if !errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD) {
		return err
	}
	name, err := windows.UTF16PtrFromString(to)
	if err == nil {
		err = os.Mkdir(to, 0o777)
	}
	if err != nil {
		return err
	}
	if err := setJunction(name, junctionData(from)); err != nil {
		return errors.Join(&os.LinkError{Op: "junction", Old: from, New: to, Err: err}, patient.Remove(to))
	}
	return nil
}

// setJunction makes an empty directory stand for another one.
func setJunction(name *uint16, data []byte) error {
	handle, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return err
	}
	var written uint32
	err = windows.DeviceIoControl(handle, windows.FSCTL_SET_REPARSE_POINT, &data[0], uint32(len(data)), nil, 0, &written, nil)
	return errors.Join(err, windows.CloseHandle(handle))
}
