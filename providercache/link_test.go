package providercache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// unpackedWidget makes an unpacked package and a Source that has it.
func unpackedWidget(t *testing.T) (*memorySource, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mirror", "widget")
	write(t, filepath.Join(dir, "terraform-provider-widget"), "x")
	write(t, filepath.Join(dir, ".hidden", "file"), "y")
	source := newSource(t)
	source.Add("acme/widget", "1.0.0", getproviders.LocalDirectory(dir))
	return source, dir
}

func TestInstall_UnpackedPackagesAreLinkedTo(t *testing.T) {
	t.Parallel()
	source, dir := unpackedWidget(t)
	for name, prepare := range map[string]func(final string){
		"a directory":  func(final string) { write(t, filepath.Join(final, "old"), "old") },
		"another link": func(final string) { symlink(t, t.TempDir(), final) },
		"the same files": func(final string) {
			write(t, filepath.Join(final, "terraform-provider-widget"), "x")
			write(t, filepath.Join(final, ".hidden", "file"), "y")
		},
	} {
		if name == "another link" && !cachetest.HasLinks(t) {
			continue
		}
		in := newInstaller(t, source)
		final := in.Target.PackagePath(acmeWidget, v1, linux)
		succeed(t, os.MkdirAll(filepath.Dir(final), 0o755))
		prepare(final)
		install(t, in, widgets, nil)
		if !cachetest.HasLinks(t) { // the package is copied
			must.EqualSlices(t, files(t, final), []string{".hidden/file", "terraform-provider-widget"}, name)
		} else if target, err := os.Readlink(final); target != dir {
			t.Errorf("%s: there is %q, %v", name, target, err)
		}
	}
	t.Run("a link stays", func(t *testing.T) {
		symlink(t, dir, filepath.Join(t.TempDir(), "probe"))
		in := newInstaller(t, source)
		locks, _ := install(t, in, widgets, nil)
		must.EqualSlices(t, files(t, in.Target.Dir), []string{packageDir("acme/widget", "1.0.0") + " -> " + dir})
		lock, _ := locks.Provider(acmeWidget)
		must.EqualSlices(t, lock.Hashes, []getproviders.Hash{h1Of(t, map[string]string{"terraform-provider-widget": "x", ".hidden/file": "y"})})

		final := in.Target.PackagePath(acmeWidget, v1, linux)
		before := must.Get(os.Lstat(final))(t)
		install(t, in, widgets, nil)
		after := must.Get(os.Lstat(final))(t)
		if !os.SameFile(before, after) {
			t.Error("a link that was right was made again")
		}
		if again, report := install(t, in, widgets, locks); report.Outcomes[0].State != event.Present || !again.Equal(locks) {
			t.Errorf("got %+v, want that the package is present", report)
		}
	})
}

func TestInstall_APackageIsNotInstalledToItself(t *testing.T) {
	source := parallelSource(t)
	in := newInstaller(t, source)
	final := in.Target.PackagePath(acmeWidget, v1, linux)
	write(t, filepath.Join(final, "terraform-provider-widget"), "x")
	source.Add("acme/widget", "1.0.0", getproviders.LocalDirectory(final))
	must.Refuse(attempt(t, in, widgets, nil))(t)
	must.Equal(t, read(t, filepath.Join(final, "terraform-provider-widget")), "x")
}

func TestInstall_UnpackedPackagesAreComparedWithTheLock(t *testing.T) {
	t.Parallel()
	source, _ := unpackedWidget(t)
	for name, c := range map[string]struct {
		hashes []getproviders.Hash
		step   string
	}{
		"another h1": {[]getproviders.Hash{"h1:other=", "zh:aa"}, during.Verify},
		"zh only":    {[]getproviders.Hash{"zh:aa"}, ""},
	} {
		locks := lockOf("1.0.0", c.hashes...)
		in := newInstaller(t, source)
		err := attempt(t, in, widgets, locks)
		failure, failed := getproviders.Failure(err)
		if failed != (c.step != "") || failed && failure.Step != c.step {
			t.Errorf("%s: got %v", name, err)
		}
		if failed {
			nothingLeft(t, in)
		}
	}
}

// The mode of -link= is used if it is possible. Otherwise packages
// are copied, and the reason is reported.
func TestLink_FallsBackToACopy(t *testing.T) {
	t.Parallel()
	m, elsewhere := newMachine(t), ""
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, root := range []string{"/dev/shm", "/tmp", `Z:\dev\shm`, `Z:\tmp`} {
		dir, err := os.MkdirTemp(root, "tfdeps-test-")
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err == nil && os.Link(file, filepath.Join(dir, "file")) != nil {
			elsewhere = dir
		}
	}
	if elsewhere == "" {
		t.Skip("no other file system is known here")
	}
	byLink := providercache.LinkSymlink
	if !cachetest.HasLinks(t) {
		byLink = providercache.LinkCopy
	}
	locks, _ := m.first()
	for mode, want := range map[providercache.LinkMode]providercache.LinkMode{
		providercache.LinkSymlink: byLink, providercache.LinkClone: providercache.LinkCopy,
		providercache.LinkHardlink: providercache.LinkCopy, providercache.LinkCopy: providercache.LinkCopy, providercache.LinkAuto: providercache.LinkCopy,
	} {
		d := m.directory()
		d.Link, d.Target = mode, storeIn(elsewhere, mode.String())
		_, report := install(t, d.Installer, both, locks)
		for _, o := range report.Outcomes {
			told := o.LinkReason != nil && (mode == providercache.LinkAuto || strings.HasPrefix(o.LinkReason.Error(), mode.String()+": "))
			if o.Link != want || told != (want != mode) {
				t.Errorf("%v: it is a %v, because of %v", mode, o.Link, o.LinkReason)
			}
		}
	}
}
