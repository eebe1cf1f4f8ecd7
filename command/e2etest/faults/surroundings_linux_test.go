package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestInit_FilesCantBeRead makes each read of one of the files fail, as on a failing disk. The error names
// the file, and init works without files that only save time.
func TestInit_FilesCantBeRead(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	harness.RequireProgram(t, "strace")
	s, dir := newSiteWithModule(t)
	s.init(t, dir)
	binary := packagesBelow(t, s.cache)
	must.Len(t, binary, 1)
	lock := harness.LockOf(t, dir)
	state, err := filepath.Glob(filepath.Join(homeOf(s), ".local/state/tfdeps/*"))
	if err != nil || len(state) == 0 {
		t.Fatalf("no state: %v", err)
	}
	for _, c := range []struct {
		file  string
		fails bool
	}{
		{filepath.Join(dir, "main.tf"), true}, {filepath.Join(dir, "m/main.tf"), true}, {filepath.Join(dir, depsfile.FileName), true},
		{filepath.Join(dir, ".terraform/modules/modules.json"), true}, {binary[0], false}, {state[0], false},
	} {
		must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform/providers")))
		args := []string{"-f", "-o", s.cache + "-trace", "-P", c.file, "-e", "trace=read,pread64,copy_file_range,sendfile", "-e", "inject=read,pread64,copy_file_range,sendfile:error=EIO", s.program, "init", "-no-color"}
		if c.file == binary[0] {
			args = append(args, "-verify")
		}
		end := harness.Exec(t, dir, s.env, append([]string{"strace"}, args...)...)
		said := harness.OneLine(end.Said())
		switch trace := harness.ReadText(t, s.cache+"-trace"); {
		case !strings.Contains(trace, "INJECTED") && c.file != state[0]: // not all of the state is read each time
			t.Errorf("%s: it was never read", c.file)
		case strings.Contains(said, "panic"), (end.Code != 0) != c.fails:
			t.Errorf("%s: %s", c.file, end)
		case c.fails && (!strings.Contains(said, "input/output error") || !strings.Contains(said, filepath.Base(c.file))):
			t.Errorf("%s: the message says neither what failed nor for which file:\n%s", c.file, end)
		}
		s.init(t, dir, "-verify")
		must.Equal(t, harness.LockOf(t, dir), lock, c.file)
	}
}

// TestInit_DiskIsSlow delays all calls that change directories by 20 ms, for two processes with one cache:
// each waits for the other, and neither gives up or fetches a package twice.
func TestInit_DiskIsSlow(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	harness.RequireProgram(t, "strace")
	s := newSite(t, 2)
	first, second := s.directory(t), s.directory(t)
	const slow = "rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,fsync,fdatasync"
	var running []*exec.Cmd
	for _, dir := range []string{first, second} {
		cmd := exec.CommandContext(t.Context(), "strace", "-f", "-o", os.DevNull, "-e", "trace="+slow, "-e", "inject="+slow+":delay_enter=20000", s.program, "init", "-no-color")
		cmd.Dir, cmd.Env, cmd.Stderr = dir, s.env, t.Output()
		must.Succeed(t, cmd.Start())
		running = append(running, cmd)
	}
	for _, cmd := range running {
		must.Succeed(t, cmd.Wait())
	}
	must.Equal(t, s.registry.Requests("archive"), 2)
	must.Equal(t, harness.LockOf(t, first), harness.LockOf(t, second))
	s.init(t, first, "-verify")
}

// TestInit_LittleMemory installs a package that is larger than the memory limit of the process. Go's runtime reserves
// 113 MB of that for itself and 64 MB for the heap at the start.
func TestInit_LittleMemory(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
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

// TestInit_ReadOnlyDirectories puts each directory that an init writes to on a read-only file system.
// Init works without those that only save time.
func TestInit_ReadOnlyDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place func(s *site, dir string) string
		fails bool
	}{
		"the directory":    {func(_ *site, dir string) string { return dir }, true},
		"the data":         {func(_ *site, dir string) string { return filepath.Join(dir, ".terraform") }, true},
		"the cache":        {func(s *site, _ string) string { return s.cache }, false},
		"the state":        {func(s *site, _ string) string { return filepath.Join(homeOf(s), ".local") }, false},
		"temporary files":  {func(s *site, _ string) string { return filepath.Join(homeOf(s), "tmp") }, false},
		"the user's cache": {func(s *site, _ string) string { return filepath.Join(homeOf(s), ".cache") }, false},
	} {
		s, dir := newSiteWithModule(t)
		s.env = append(slices.Clone(s.env), "TMPDIR="+filepath.Join(homeOf(s), "tmp"))
		place := c.place(s, dir)
		must.Succeed(t, os.MkdirAll(place, 0o755))
		writable := readOnly(t, place)
		out, err := s.command(t, dir).CombinedOutput()
		said := harness.OneLine(string(out))
		if strings.Contains(said, "panic") || (err != nil) != c.fails || c.fails && !strings.Contains(said, "read-only file system") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		writable()
		s.init(t, dir)
	}
}

// readOnly puts a directory on a read-only file system, until writable is called.
func readOnly(t *testing.T, place string) (writable func()) {
	t.Helper()
	remount := func(flags uintptr) error {
		return syscall.Mount("", place, "", syscall.MS_REMOUNT|syscall.MS_BIND|flags, "")
	}
	mount(t, place, place, "", syscall.MS_BIND, "")
	if err := remount(syscall.MS_RDONLY); err != nil {
		t.Skipf("only root may mount a file system: %v", err)
	}
	return func() { must.Succeed(t, remount(0)) }
}
