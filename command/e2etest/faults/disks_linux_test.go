package faults

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestInit_RunsOnABareRoot runs an init as a user without a home, with a read-only root file system that has
// only busybox, and temporary files on another file system than the directory.
func TestInit_RunsOnABareRoot(t *testing.T) {
	t.Parallel()
	busybox := peertest.LookProgram(t, "busybox")
	root := t.TempDir()
	mount(t, "tmpfs", root, "tmpfs", 0, "mode=755")
	work, temporary := filepath.Join(root, "work"), filepath.Join(root, "tmp")
	for _, dir := range []string{work, temporary} {
		must.Succeed(t, os.Mkdir(dir, 0o755))
		mount(t, "tmpfs", dir, "tmpfs", 0, "mode=755")
	}
	for name, program := range map[string]string{"busybox": busybox, "tfdeps": harness.Tfdeps(t)} {
		must.Write(t, filepath.Join(root, "bin", name), must.Get(os.ReadFile(program))(t))
		must.Succeed(t, os.Chmod(filepath.Join(root, "bin", name), 0o755))
	}
	must.Succeed(t, os.CopyFS(filepath.Join(work, "config"), os.DirFS(harness.Path(t, "testdata", "quickstart"))))
	must.Succeed(t, os.RemoveAll(filepath.Join(work, "config", ".terraform"))) // made by README's first command
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

// TestLock_FullDiskLeavesTheFileWhole runs providers lock and init -platform with
// a lock file on a full file system.
func TestLock_FullDiskLeavesTheFileWhole(t *testing.T) {
	t.Parallel()
	disk := mountSmall(t, "64k")
	env := harness.Redirect(t, harness.NewLockRegistry(t, nil), "registry.terraform.io")
	program, data := harness.Tfdeps(t), t.TempDir()
	run := func(args ...string) harness.Ended {
		return harness.Exec(t, disk, append(harness.Env(t, env...), "TF_DATA_DIR="+data, "TFDEPS_TERRAFORM_VERSION=1.15.9"), append(append([]string{program}, args...), "-no-color")...)
	}
	must.Write(t, filepath.Join(disk, "main.tf"), harness.LockConfig("a", ""))
	end := run("init")
	must.Equal(t, end.Code, 0, end)
	before := harness.ReadLock(t, disk)
	fill(t, filepath.Join(disk, "full"))
	for _, args := range [][]string{{"providers", "lock", "-platform=darwin_arm64"}, {"init", "-platform=darwin_arm64"}} {
		end := run(args...)
		if said := harness.OneLine(end.Said()); end.Code == 0 || !strings.Contains(said, "no space left on device") || !strings.Contains(said, "save the dependency lock file") {
			t.Errorf("%q: %s", args, end)
		}
		must.Equal(t, harness.ReadLock(t, disk), before, args)
	}
	must.Len(t, must.Get(os.ReadDir(disk))(t), 3)
}

// mount mounts a file system for the test, or skips the test if that isn't possible.
func mount(t *testing.T, source, at, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, at, kind, flags, data); err != nil {
		t.Skipf("only root may mount a file system: %v", err)
	}
	t.Cleanup(func() { must.Succeed(t, syscall.Unmount(at, syscall.MNT_DETACH)) })
}

// mountSmall returns a file system of some size.
func mountSmall(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	mount(t, "tfdeps-test", disk, "tmpfs", 0, "size="+size)
	return disk
}

// TestInit_SaysWhatIsMissingOnAFullDisk: the error names the directory, the missing bytes, and what cache gc would free.
func TestInit_SaysWhatIsMissingOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := mountSmall(t, "600k")
	r, _ := newReplicas(t, 0) // its packages have a megabyte each
	must.Write(t, filepath.Join(disk, "main.tf"), "terraform {\n  required_providers {\n    p0 = { source = \"acme/p0\" }\n  }\n}\n")
	end := harness.Exec(t, disk, harness.Env(t, r.env...), r.program, "init", "-no-color")
	said := harness.OneLine(end.Said())
	for _, want := range []string{"are free in .terraform/providers: ", " are missing", "would be free without the packages of ", "no directory has used for 30 days", "tfdeps cache gc"} {
		must.Contain(t, said, want)
	}
	must.Equal(t, end.Code, 1)
}

// fill makes a file that takes all free space.
func fill(t *testing.T, path string) {
	t.Helper()
	file := must.Get(os.Create(path))(t)
	_, _ = io.Copy(file, bytes.NewReader(make([]byte, 1<<20)))
	must.Succeed(t, file.Close())
}
