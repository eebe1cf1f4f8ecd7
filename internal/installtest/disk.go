//go:build linux || windows

package installtest

import (
	"os/exec"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// SmallDisk mounts a file system of a size such as "256k" until the test ends, and skips the test if it can't: only root of Linux
// can, and of Windows only testdata/wine has a mount program.
func SmallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	Mount(t, disk, "-t", "tmpfs", "-o", "size="+size, "tfdeps-test")
	return disk
}

// ResizeDisk changes the size of a file system of SmallDisk.
func ResizeDisk(t *testing.T, disk, size string) {
	t.Helper()
	must.Succeed(t, exec.CommandContext(t.Context(), "mount", "-o", "remount,size="+size, disk).Run())
}

// ReadOnly makes a directory a read-only file system until writable is called, or skips the test as SmallDisk does.
func ReadOnly(t *testing.T, dir string) (writable func()) {
	t.Helper()
	remount := func(how string) {
		t.Helper()
		must.Succeed(t, exec.Command("mount", "-o", "remount,bind,"+how, dir).Run())
	}
	Mount(t, dir, "--bind", dir)
	remount("ro")
	return func() { remount("rw") }
}

// Mount mounts a file system until the test ends, or skips the test as SmallDisk does.
func Mount(t *testing.T, at string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mount", append(args, at)...).CombinedOutput(); err != nil {
		t.Skipf("only root may mount a file system: %v, %s", err, out)
	}
	t.Cleanup(func() { must.Succeed(t, exec.Command("umount", "-l", at).Run()) }) // a process that another test is starting may still have its descriptors
}
