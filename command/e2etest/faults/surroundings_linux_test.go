package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestInit_RunsOnABareRoot runs an init as a user without a home, with a read-only root file system that has
// only busybox, and temporary files on another file system than the directory.
func TestInit_RunsOnABareRoot(t *testing.T) {
	t.Parallel()
	busybox := peertest.LookProgram(t, "busybox")
	root, own := t.TempDir(), []string{"-t", "tmpfs", "-o", "mode=755", "tfdeps-test"}
	installtest.Mount(t, root, own...)
	work, temporary := filepath.Join(root, "work"), filepath.Join(root, "tmp")
	for _, dir := range []string{work, temporary} {
		must.Succeed(t, os.Mkdir(dir, 0o755))
		installtest.Mount(t, dir, own...)
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

// TestCommands_WithinLimits runs commands with limits that the shell sets.
func TestCommands_WithinLimits(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	t.Run("descriptors are used up", descriptorsAreUsedUp)
	t.Run("little memory", littleMemory)
}

// descriptorsAreUsedUp runs commands with too few file descriptors.
func descriptorsAreUsedUp(t *testing.T) {
	t.Parallel()
	s, dir := newSiteWithModule(t)
	for _, most := range []int{10, 12, 20} {
		s.forget(t, dir, ".terraform", depsfile.FileName)
		end := harness.Exec(t, dir, s.env, "sh", "-c", fmt.Sprintf("ulimit -n %d; exec %q init -no-color", most, s.program))
		if said := harness.OneLine(end.Said()); end.Code != 0 && !strings.Contains(said, "too many open files") || strings.Contains(said, "panic") {
			t.Errorf("%d: %s", most, end)
		}
		s.init(t, dir)
	}
}

// littleMemory installs a package that is larger than the memory limit of the process. Go's runtime reserves
// 113 MB of that for itself and 64 MB for the heap at the start.
func littleMemory(t *testing.T) {
	t.Parallel()
	const memory, size = 144 << 20, 112 << 20
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	noise := make([]byte, size/100) // an archive with a compression ratio of 200 is taken for an attack
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "big", Version: "1.0.0",
		Archive: providertest.Zip(map[string]string{"terraform-provider-big": string(noise) + strings.Repeat("0123456789abcdef", size/16)})})
	dir := harness.WorkDir(t, "terraform {\n  required_providers {\n    big = { source = \"tf.example.com/acme/big\" }\n  }\n}\n")
	env := harness.Env(t, harness.Redirect(t, registry, "tf.example.com")...)
	for _, args := range [][]string{{"init"}, {"providers", "mirror", "out"}, {"vendor"}} {
		harness.Run(t, dir, env, append([]string{"sh", "-c", fmt.Sprintf("ulimit -d %d; exec %q \"$@\" -no-color", memory>>10, harness.Tfdeps(t)), "sh"}, args...)...)
	}
}
