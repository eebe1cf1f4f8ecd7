package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestInit_RunsOnABareRoot has a user without a home run an init where the root of the file system is only read and has
// nothing but busybox, and temporary files are on another file system than the directory.
func TestInit_RunsOnABareRoot(t *testing.T) {
	t.Parallel()
	busybox := peertest.LookProgram(t, "busybox")
	root := t.TempDir()
	mount := func(at string, flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", at, "tmpfs", flags, "mode=755"); err != nil {
			t.Skipf("only root may mount a file system: %v", err)
		}
		t.Cleanup(func() { must.Succeed(t, syscall.Unmount(at, syscall.MNT_DETACH)) })
	}
	mount(root, 0)
	work, temporary := filepath.Join(root, "work"), filepath.Join(root, "tmp")
	for _, dir := range []string{work, temporary} {
		must.Succeed(t, os.Mkdir(dir, 0o755))
		mount(dir, 0)
	}
	for name, program := range map[string]string{"busybox": busybox, "tfdeps": harness.Tfdeps(t)} {
		must.Write(t, filepath.Join(root, "bin", name), must.Get(os.ReadFile(program))(t))
		must.Succeed(t, os.Chmod(filepath.Join(root, "bin", name), 0o755))
	}
	must.Succeed(t, os.CopyFS(filepath.Join(work, "config"), os.DirFS(harness.Path(t, "testdata", "quickstart"))))
	must.Succeed(t, os.RemoveAll(filepath.Join(work, "config", ".terraform"))) // of README's first command
	for _, dir := range []string{filepath.Join(work, "config"), temporary} {
		must.Succeed(t, os.Chown(dir, 65534, 65534))
	}
	must.Succeed(t, syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))

	for _, line := range []string{"tfdeps init -no-color", "tfdeps init -no-color", "tfdeps init -check"} {
		cmd := exec.CommandContext(t.Context(), "/bin/busybox", "sh", "-c", "cd /work/config && "+line)
		cmd.Env = []string{"PATH=/bin", "TMPDIR=/tmp"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	must.Len(t, must.Get(os.ReadDir(temporary))(t), 0)
	must.Get(os.Stat(filepath.Join(work, "config", ".terraform", "providers")))(t)
}
