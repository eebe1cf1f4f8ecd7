//go:build unix

package providercache_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// image is a directory as in an image: root made it, with a cache in it, and others can't write to
// it. It isn't in /tmp, to which all users can write.
type image struct{ dir, cache, archive, program string }

func newImage(t *testing.T) image {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make what is root's, and be another user as well")
	}
	dir, err := os.MkdirTemp("/var/lib", "tfdeps-test-")
	if err != nil {
		t.Skipf("no place for it: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	im := image{dir, filepath.Join(dir, "cache"), filepath.Join(dir, "widget.zip"), filepath.Join(dir, "program")}
	program, err := os.ReadFile(os.Args[0]) // other users may not enter the directory that it is in
	succeed(t, err)
	archive := zipOf(t, map[string]string{"terraform-provider-widget": "provider 1.0.0\n"})
	succeed(t, errors.Join(os.Chmod(dir, 0o755), peertest.WriteProgram(im.program, program), os.WriteFile(im.archive, archive, 0o644)))
	return im
}

// installer installs from the image's archive, with its cache, in this process.
func (im image) installer(t *testing.T) *providercache.Installer {
	t.Helper()
	source := newSource(t)
	source.Add("acme/widget", "1.0.0", getproviders.LocalArchive(im.archive))
	source.From("acme/widget", "1.0.0", "the test")
	in := newInstaller(t, source)
	in.Cache = storeIn(im.cache)
	return in
}

// prime fills the cache as a build of an image does.
func (im image) prime(t *testing.T) {
	t.Helper()
	in := im.installer(t)
	filled := must.Get(in.Prefetch(t.Context(), []getproviders.PackageSpec{{Provider: acmeWidget, Version: v1}}))(t)
	must.Get(in.Finalize(t.Context(), filled, im.dir, time.Unix(315532800, 0)))(t)
}

// installAs makes a user install from the cache, with a command that may precede the program's, and returns the exit code.
func (im image) installAs(t *testing.T, user uint32, where string, before ...string) int {
	t.Helper()
	home := filepath.Join(peertest.PublicDir(t), "home")
	succeed(t, errors.Join(os.Mkdir(home, 0o755), os.Chown(home, int(user), int(user))))
	args := append(before, im.program, im.archive, filepath.Join(home, "target"), im.cache, filepath.Join(home, "state"))
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	cmd.Env, cmd.Dir = append(os.Environ(), dieVariable+"="+where), "/"
	err := cmd.Run()
	exit := must.As[*exec.ExitError](t, err)
	installed := filepath.Join(home, "target", packageDir("acme/widget", "1.0.0"), "terraform-provider-widget")
	if got := read(t, installed); exit.ExitCode() != 1 && got != "provider 1.0.0\n" {
		t.Errorf("installed: %q", got)
	}
	return exit.ExitCode()
}

// Users who can't write to a cache that root made use it as it is: nothing is fetched or read, and nothing in it changes. One of
// them may be root. A cache that another user could have written to proves nothing: without a lock entry it isn't used.
func ofAnImage(t *testing.T) {
	needsReceipts(t)
	im := newImage(t)
	im.prime(t)
	before := tree(t, im.dir)
	must.Equal(t, im.installAs(t, nobody, "unread"), didLink)
	must.EqualSlices(t, tree(t, im.dir), before)
	for name, c := range map[string]struct {
		dirs  []string
		where string
		want  int
	}{
		"all of it":               {[]string{im.dir}, "unread", didLink},
		"the cache and its notes": {[]string{im.cache, im.cache + ".receipts"}, "unread", didLink},
		"the cache alone":         {[]string{im.cache}, "fetched", didFetch},
		"the receipts alone":      {[]string{im.cache + ".receipts"}, "fetched", didFetch},
	} {
		t.Run("by root, read-only: "+name, func(t *testing.T) {
			must.Equal(t, im.installAs(t, 0, c.where, mountedReadOnly(t, c.dirs...)...), c.want)
		})
	}
	succeed(t, os.Chown(im.cache+".receipts", nobody, nobody))
	before = tree(t, im.dir)
	must.Equal(t, im.installAs(t, nobody, "unread"), didFetch)
	must.EqualSlices(t, tree(t, im.dir), before)
	// Receipts beside a cache that this process can write to may have come with the cache, whoever
	// owns it. They overrule neither the lock file nor the source.
	for name, poison := range poisons {
		for how, lock := range map[string]func(h1, zh getproviders.Hash) *depsfile.Locks{
			"locked":                  func(h1, zh getproviders.Hash) *depsfile.Locks { return lockOf("1.0.0", h1, zh) },
			"locked by the archive's": func(_, zh getproviders.Hash) *depsfile.Locks { return lockOf("1.0.0", zh) },
			"not locked":              func(_, _ getproviders.Hash) *depsfile.Locks { return nil },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				im := newImage(t)
				h1, zh, _ := packageHashes(t, []byte(read(t, im.archive)))
				poison(t, im, h1, zh)
				in := im.installer(t)
				install(t, in, widgets, lock(h1, zh))
				must.Equal(t, read(t, widgetIn(in.Target.Dir)), originalWidget)
			})
		}
	}
}

// TestFinalize_DoesNotDependOnTheRun: two images of the same packages have the same receipts, also if nobody knows when the archive was
// modified, so that the time of the first fetch takes its place.
func TestFinalize_DoesNotDependOnTheRun(t *testing.T) {
	var receipts []string
	for range 2 {
		im := newImage(t)
		succeed(t, os.Chtimes(im.archive, time.Time{}, time.Now().Add(time.Hour))) // which can't be true
		im.prime(t)
		receipts = append(receipts, read(t, filepath.Join(im.cache+".receipts", "packages")))
	}
	must.Contain(t, receipts[0], "acme/widget")
	must.Equal(t, receipts[1], receipts[0])
}
