package receipt

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// fileBasicInfo is FILE_BASIC_INFO of Windows: four times and the attributes.
type fileBasicInfo struct {
	Created, Accessed, Written, Changed int64 // in 100 ns since 1601
	Attributes                          uint32
	_                                   uint32
}

// Lstat opens the path, because only a handle has the file's index and its change time.
func Lstat(path string) (PathStat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return PathStat{}, err
	}
	handle, err := openForStat(path)
	if err != nil {
		return PathStat{}, err
	}
	defer windows.CloseHandle(handle)
	var file windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &file); err != nil {
		return PathStat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	var basic fileBasicInfo
	err = windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic)))
	if err != nil {
		return PathStat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	stat := PathStat{
		StatEntry: StatEntry{
			Mode: info.Mode(), Inode: uint64(file.FileIndexHigh)<<32 | uint64(file.FileIndexLow),
			Modified: sinceEpoch(basic.Written), Changed: sinceEpoch(basic.Changed),
		},
		Device: uint64(file.VolumeSerialNumber),
	}
	if info.Mode().IsRegular() {
		stat.Size, stat.Allocated = info.Size(), info.Size()
	}
	return stat, nil
}

// sinceEpoch converts a Windows time to nanoseconds since 1970.
func sinceEpoch(t int64) int64 {
	const from1601 = 116444736000000000
	return (t - from1601) * 100
}

func openForStat(path string) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return windows.InvalidHandle, err
	}
	handle, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return windows.InvalidHandle, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return handle, nil
}

// fileSystemOf returns the file system of a path, after following links. A network share has
// its server's kind of file system, so the drive type has to show that it isn't local.
func fileSystemOf(path string) (fileSystem, error) {
	handle, err := openForStat(path)
	if err != nil {
		return fileSystem{}, err
	}
	defer windows.CloseHandle(handle)
	var kind [windows.MAX_PATH + 1]uint16
	var serial uint32
	if err := windows.GetVolumeInformationByHandle(handle, nil, 0, &serial, nil, nil, &kind[0], uint32(len(kind))); err != nil {
		return fileSystem{}, &fs.PathError{Op: "volume", Path: path, Err: err}
	}
	name := windows.UTF16ToString(kind[:])
	system := fileSystem{ID: name, Granule: coarseGranule}
	if name == "NTFS" && isFixed(handle) {
		system.Local, system.Granule = true, fineGranule
	}
	return system, nil
}

func isFixed(handle windows.Handle) bool {
	buffer := make([]uint16, 1<<15)
	n, err := windows.GetFinalPathNameByHandle(handle, &buffer[0], uint32(len(buffer)), 0)
	if err != nil || n == 0 || int(n) >= len(buffer) {
		return false
	}
	volume := make([]uint16, 1<<15)
	if windows.GetVolumePathName(&buffer[0], &volume[0], uint32(len(volume))) != nil {
		return false
	}
	return windows.GetDriveType(&volume[0]) == windows.DRIVE_FIXED
}

// isOwn is always true, because owner.Exclusive checks the
// package's directory, whose ACL the entries inherit.
func (e StatEntry) isOwn(int) bool { return true }
