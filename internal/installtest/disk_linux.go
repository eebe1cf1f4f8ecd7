package installtest

import (
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// ErrDiskFull is the system's error for a full disk.
const ErrDiskFull = syscall.ENOSPC

// SmallDisk mounts a file system of a size such as "256k" until the test ends, and skips the test
// if it isn't allowed to.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tfdeps-test", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("only root may mount a file system: %v", err)
	}
	t.Cleanup(func() { must.Succeed(t, syscall.Unmount(disk, syscall.MNT_DETACH)) }) // a process that another test is starting may still have its descriptors
	return disk
}

// ResizeDisk changes the size of a file system of SmallDisk.
func ResizeDisk(t *testing.T, disk, size string) {
	t.Helper()
	must.Succeed(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size="+size))
}
