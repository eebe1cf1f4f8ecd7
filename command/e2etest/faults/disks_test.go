//go:build linux || windows

package faults

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLock_FullDiskLeavesTheFileWhole runs providers lock and init -platform with
// a lock file on a full file system.
func TestLock_FullDiskLeavesTheFileWhole(t *testing.T) {
	t.Parallel()
	disk := installtest.SmallDisk(t, "64k")
	env := harness.Redirect(t, harness.NewLockRegistry(t, nil), "registry.terraform.io")
	program, data := harness.Tfdeps(t), t.TempDir()
	run := func(args ...string) harness.Ended {
		return harness.Exec(t, disk, append(harness.Env(t, env...), "TF_DATA_DIR="+data, "TFDEPS_TERRAFORM_VERSION=1.15.9"), append(append([]string{program}, args...), "-no-color")...)
	}
	must.Write(t, filepath.Join(disk, "main.tf"), harness.LockConfig("a", ""))
	end := run("init")
	must.Equal(t, end.Code, 0, end)
	before := harness.ReadLock(t, disk)
	_ = os.WriteFile(filepath.Join(disk, "full"), make([]byte, 1<<20), 0o600) // takes all free space
	for _, args := range [][]string{{"providers", "lock", "-platform=darwin_arm64"}, {"init", "-platform=darwin_arm64"}} {
		end := run(args...)
		if said := harness.OneLine(end.Said()); end.Code == 0 || !strings.Contains(said, harness.OneLine(installtest.ErrDiskFull.Error())) || !strings.Contains(said, "save the dependency lock file") {
			t.Errorf("%q: %s", args, end)
		}
		must.Equal(t, harness.ReadLock(t, disk), before, args)
	}
	must.Len(t, must.Get(os.ReadDir(disk))(t), 3)
}

// TestInit_SaysWhatIsMissingOnAFullDisk: the error names the directory, the missing bytes, and what cache gc would free.
func TestInit_SaysWhatIsMissingOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := installtest.SmallDisk(t, "600k")
	r, _ := newReplicas(t, 0) // its packages have a megabyte each
	must.Write(t, filepath.Join(disk, "main.tf"), harness.LockConfig("p0", ""))
	end := harness.Exec(t, disk, harness.Env(t, r.env...), r.program, "init", "-no-color")
	said := filepath.ToSlash(harness.OneLine(end.Said()))
	for _, want := range []string{"are free in .terraform/providers: ", " are missing", "would be free without the packages of ", "no directory has used for 30 days", "tfdeps cache gc"} {
		must.Contain(t, said, want)
	}
	must.Equal(t, end.Code, 1)
}

// TestInit_ReadOnlyDirectories puts each directory that an init writes to on a read-only file system.
// Init works without those that only save time.
func TestInit_ReadOnlyDirectories(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		s, dir := newSiteWithModule(t)
		temporary := filepath.Join(s.home, "tmp")
		s.env = append(slices.Clone(s.env), "TMPDIR="+temporary)
		place, fails := [...]string{dir, filepath.Join(dir, ".terraform"), s.cache, filepath.Join(s.home, ".local"), filepath.Join(s.home, ".cache"), temporary}[i], i < 2
		must.Succeed(t, os.MkdirAll(place, 0o755))
		writable := installtest.ReadOnly(t, place)
		out, err := s.command(t, dir).CombinedOutput()
		said := harness.OneLine(string(out))
		if strings.Contains(said, "panic") || (err != nil) != fails || fails && !strings.Contains(said, harness.OneLine(installtest.ErrReadOnly.Error())) {
			t.Errorf("%s: %v\n%s", place, err, out)
		}
		writable()
		s.init(t, dir)
	}
}

// TestRecursive_ReadOnlyDirectory puts one of three directories on a read-only file system: only that directory has an error.
func TestRecursive_ReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	s, dir, roots := newRepository(t)
	writable := installtest.ReadOnly(t, roots[1])
	end := harness.Exec(t, dir, s.env, s.program, "init", "-no-color", "-recursive")
	for _, said := range []string{"\nroot0  ready", "\nroot1  failed", "\nroot2  ready", "\nroot1:\n\nError: ", harness.OneLine(installtest.ErrReadOnly.Error())} {
		must.Contain(t, end.Said(), said)
	}
	must.Equal(t, end.Code, 1)
	must.Equal(t, harness.ReadLock(t, roots[1]), "(no file)\n")
	writable()
	s.init(t, dir, "-recursive")
}
