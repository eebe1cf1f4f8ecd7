package depsfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
)

func TestSave_LoadOfAMissingFileIsEmpty(t *testing.T) {
	l, diags := depsfile.Load(filepath.Join(t.TempDir(), depsfile.FileName), terraform)
	if len(diags) != 0 || !l.Empty() {
		t.Errorf("got %v, %v", l.All(), diags)
	}
}

func TestSave_LoadOfADirectoryIsAnError(t *testing.T) {
	dir := t.TempDir()
	l, diags := depsfile.Load(dir, terraform)
	if len(diags) != 1 || diags[0].Summary != "Failed to read file" || !strings.Contains(diags[0].Detail, dir) {
		t.Errorf("got %v", diags)
	}
	l.Set(lock(t, "acme/a", "1.0.0", "")) // usable even so
}

// Reading a device or a pipe might never end.
func TestSave_LoadOfADeviceIsAnError(t *testing.T) {
	info, err := os.Stat(os.DevNull)
	if err != nil || info.Mode().IsRegular() {
		t.Skipf("%s is no device here", os.DevNull)
	}
	path := filepath.Join(t.TempDir(), depsfile.FileName)
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Skip(err)
	}
	_, diags := depsfile.Load(path, terraform)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "not a regular file") {
		t.Errorf("got %v", diags)
	}
}

func TestSave_ThenLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), depsfile.FileName)
	want := exampleLocks(t)
	if err := want.Save(path, terraform); err != nil {
		t.Fatal(err)
	}
	got, diags := depsfile.Load(path, terraform)
	if len(diags) != 0 || !got.Equal(want) {
		t.Errorf("got %v, %v", got.All(), diags)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o644 {
		t.Errorf("mode %v, want 0644", info.Mode())
	}
	onlyFiles(t, filepath.Dir(path), depsfile.FileName)
}

// onlyFiles fails the test if there is anything else in dir.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if strings.Join(got, "\n") != strings.Join(names, "\n") {
		t.Errorf("%s has %q, want %q", dir, got, names)
	}
}

func TestSave_DoesNotTouchAFileThatIsAsItShouldBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), depsfile.FileName)
	l := exampleLocks(t)
	if err := l.Save(path, terraform); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Save(path, terraform); err != nil {
		t.Fatal(err)
	}
	same, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, same) || !before.ModTime().Equal(same.ModTime()) {
		t.Error("the file was written again")
	}

	l.Remove(provider(t, "acme/aaa"))
	if err := l.Save(path, terraform); err != nil {
		t.Fatal(err)
	}
	if changed, err := os.Stat(path); err != nil || os.SameFile(before, changed) {
		t.Errorf("the file was written in place (%v)", err)
	}
}

func TestSave_FailsWithoutLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, depsfile.FileName)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	err := exampleLocks(t).Save(path, terraform)
	if err == nil || !strings.Contains(err.Error(), "dependency lock file") {
		t.Errorf("got %v", err)
	}
	onlyFiles(t, dir, depsfile.FileName)

	if err := exampleLocks(t).Save(filepath.Join(dir, "missing", depsfile.FileName), terraform); err == nil {
		t.Error("saved in a directory that isn't there")
	}
}

// linked makes a symlink in place of the lock file, to a file with this content.
func linked(t *testing.T, content string) (link, target string) {
	t.Helper()
	target = filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return linkTo(t, target), target
}

func linkTo(t *testing.T, target string) (link string) {
	t.Helper()
	link = filepath.Join(t.TempDir(), depsfile.FileName)
	if err := os.Symlink(target, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("no right to make symlinks: ", err)
		}
		t.Fatal(err)
	}
	return link
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func isSymlink(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()&os.ModeSymlink != 0
}

func TestSave_WritesThroughASymlinkToALockFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing tells a file's owner here")
	}
	link, target := linked(t, block(`version = "1.0.0"`))
	outer := linkTo(t, link) // a chain of two
	l := exampleLocks(t)
	if err := l.Save(outer, terraform); err != nil {
		t.Fatal(err)
	}
	if !isSymlink(t, outer) || !isSymlink(t, link) || isSymlink(t, target) {
		t.Error("a symlink was replaced")
	}
	if read(t, target) != example {
		t.Errorf("the target has:\n%s", read(t, target))
	}
	onlyFiles(t, filepath.Dir(target), "target")
	onlyFiles(t, filepath.Dir(link), depsfile.FileName)
}

func TestSave_ReplacesASymlinkToAnotherUsersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	theirs := block(`version = "1.0.0"`)
	link, target := linked(t, theirs)
	if err := os.Chown(target, 65534, 65534); err != nil {
		t.Skip("can't give a file to another user: ", err)
	}
	if err := exampleLocks(t).Save(link, terraform); err != nil {
		t.Fatal(err)
	}
	if isSymlink(t, link) || read(t, target) != theirs {
		t.Error("another user's file was overwritten")
	}
}

func TestSave_ReplacesASymlinkToAnythingElse(t *testing.T) {
	link, target := linked(t, "alias ll='ls -l'\n")
	links := map[string]string{
		"other file": link,
		"directory":  linkTo(t, t.TempDir()),
		"nothing":    linkTo(t, filepath.Join(t.TempDir(), "missing")),
	}
	for name, link := range links {
		if err := exampleLocks(t).Save(link, terraform); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if isSymlink(t, link) || read(t, link) != example {
			t.Errorf("%s: the symlink wasn't replaced by the lock file", name)
		}
	}
	if read(t, target) != "alias ll='ls -l'\n" {
		t.Error("another user's file was overwritten")
	}
}
