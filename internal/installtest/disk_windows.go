package installtest

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/internal/must"
)

// ErrDiskFull is the system's error for a full disk.
const ErrDiskFull = windows.ERROR_DISK_FULL

// SmallDisk mounts a file system of a size such as "256k" until the test ends, and skips the test if it can't: only
// testdata/wine has a mount program.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tfdeps-test", disk).CombinedOutput(); err != nil {
		t.Skipf("only root of Linux may mount a file system: %v, %s", err, out)
	}
	t.Cleanup(func() { must.Succeed(t, exec.Command("umount", "-l", disk).Run()) })
	return disk
}

// ResizeDisk changes the size of a file system of SmallDisk.
func ResizeDisk(t *testing.T, disk, size string) {
	t.Helper()
	must.Succeed(t, exec.CommandContext(t.Context(), "mount", "-o", "remount,size="+size, disk).Run())
}
