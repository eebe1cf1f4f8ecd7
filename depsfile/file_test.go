package depsfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/locktext"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestSave_LoadOfAMissingFileIsEmpty(t *testing.T) {
	l, diags := Load(filepath.Join(t.TempDir(), FileName), terraform)
	if len(diags) != 0 || !l.Empty() {
		t.Errorf("got %v, %v", l.All(), diags)
	}
}

func TestSave_LoadOfADirectoryIsAnError(t *testing.T) {
	dir := t.TempDir()
	l, diags := Load(dir, terraform)
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
	paths := []string{os.DevNull}
	if link := filepath.Join(t.TempDir(), FileName); must.Symlink(os.DevNull, link) == nil {
		paths = append(paths, link)
	}
	for _, path := range paths {
		_, diags := Load(path, terraform)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, "not a regular file") {
			t.Errorf("%s: got %v", path, diags)
		}
	}
}

func TestSave_ThenLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	want := exampleLocks(t)
	must.Succeed(t, want.Save(path, terraform))
	got, diags := Load(path, terraform)
	if len(diags) != 0 || !got.Equal(want) {
		t.Errorf("got %v, %v", got.All(), diags)
	}
	info := must.Get(os.Stat(path))(t)
	if runtime.GOOS != "windows" && info.Mode() != 0o644 {
		t.Errorf("mode %v, want 0644", info.Mode())
	}
	onlyFiles(t, filepath.Dir(path), FileName)
}

// onlyFiles fails the test if there is anything else in dir.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	must.Equal(t, strings.Join(got, "\n"), strings.Join(names, "\n"), dir)
}

func TestSave_DoesNotTouchAFileThatIsAsItShouldBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	l := exampleLocks(t)
	must.Succeed(t, l.Save(path, terraform))
	before := must.Get(os.Stat(path))(t)
	must.Succeed(t, l.Save(path, terraform))
	same := must.Get(os.Stat(path))(t)
	if !os.SameFile(before, same) || !before.ModTime().Equal(same.ModTime()) {
		t.Error("the file was written again")
	}

	l.Remove(provider(t, "acme/aaa"))
	must.Succeed(t, l.Save(path, terraform))
	if changed, err := os.Stat(path); err != nil || os.SameFile(before, changed) {
		t.Errorf("the file was written in place (%v)", err)
	}
}

func TestSave_FailsWithoutLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	must.Succeed(t, os.Mkdir(path, 0o755))
	must.Contain(t, exampleLocks(t).Save(path, terraform), "dependency lock file")
	onlyFiles(t, dir, FileName)

	if err := exampleLocks(t).Save(filepath.Join(dir, "missing", FileName), terraform); err == nil {
		t.Error("saved in a directory that isn't there")
	}
	if err := locktext.SaveText(filepath.Join(dir, "missing/text"), []byte("x")); err == nil {
		t.Error("text is saved in a directory that isn't there")
	}
}

// linked makes a symlink in place of the lock file, to a file beside it with this content.
func linked(t *testing.T, content string) (link, target string) {
	t.Helper()
	dir := t.TempDir()
	target = filepath.Join(dir, "target")
	must.Write(t, target, content)
	return linkIn(t, dir, "target"), target
}

func linkIn(t *testing.T, dir, target string) (link string) {
	t.Helper()
	link = filepath.Join(dir, FileName)
	if err := must.Symlink(target, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("no right to make symlinks: ", err)
		}
		t.Fatal(err)
	}
	return link
}

func read(t *testing.T, path string) string {
	t.Helper()
	content := must.Get(os.ReadFile(path))(t)
	return string(content)
}

func isSymlink(t *testing.T, path string) bool {
	t.Helper()
	info := must.Get(os.Lstat(path))(t)
	return info.Mode()&os.ModeSymlink != 0
}

func TestSave_WritesThroughASymlinkToALockFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing tells a file's owner here")
	}
	link, target := linked(t, locked())
	middle := filepath.Join(filepath.Dir(link), "middle")
	must.Succeed(t, errors.Join(os.Rename(link, middle), os.Symlink("middle", link)))
	must.Succeed(t, exampleLocks(t).Save(link, terraform))
	if !isSymlink(t, link) || !isSymlink(t, middle) || isSymlink(t, target) {
		t.Error("a symlink was replaced")
	}
	must.Equal(t, read(t, target), example)
	onlyFiles(t, filepath.Dir(link), FileName, "middle", "target")
}

// writeTree makes files, with the directories above them, in a new directory, which it returns.
func writeTree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range files {
		must.Write(t, filepath.Join(root, name), locked())
	}
	return root
}

func TestSave_LeavesLockFilesOfOtherRepositoriesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		files   []string // one of them is the target
		dir, to string
		ok      bool
	}{
		"within a repository":              {[]string{".git/config", "locks/all.hcl", "app/main.tf"}, "app", "../locks/all.hcl", true},
		"of a work tree":                   {[]string{".git", "locks/all.hcl", "app/main.tf"}, "app", "../locks/all.hcl", true},
		"to its root":                      {[]string{".git/config", "all.hcl", "a/b/main.tf"}, "a/b", "../../all.hcl", true},
		"in its own directory":             {[]string{"app/all.hcl"}, "app", "all.hcl", true},
		"of another repository":            {[]string{"a/.git/config", "b/.git/config", "b/all.hcl"}, "a", "../b/all.hcl", false},
		"of a repository within":           {[]string{".git/config", "b/.git/config", "b/all.hcl"}, ".", "b/all.hcl", false},
		"of the repository around":         {[]string{".git/config", "all.hcl", "b/.git/config"}, "b", "../all.hcl", false},
		"from a repository to elsewhere":   {[]string{"a/.git/config", "all.hcl"}, "a", "../all.hcl", false},
		"without a repository":             {[]string{"a/main.tf", "b/all.hcl"}, "a", "../b/all.hcl", false},
		"a file elsewhere that is no lock": {[]string{"a/main.tf", "b/x"}, "a", "../b/x", false},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.ok {
				t.Skip("nothing tells a file's owner here")
			}
			root := writeTree(t, c.files...)
			dir := filepath.Join(root, c.dir)
			link, target := linkIn(t, dir, filepath.FromSlash(c.to)), filepath.Join(dir, c.to)
			before := read(t, target)
			err := exampleLocks(t).Save(link, terraform)
			if !isSymlink(t, link) {
				t.Error("the link was replaced")
			}
			if c.ok {
				if err != nil || read(t, target) != example {
					t.Errorf("got %v, and the target has:\n%s", err, read(t, target))
				}
				return
			}
			must.Equal(t, read(t, target), before, "the lock file of another directory was rewritten")
			if err == nil || !strings.Contains(err.Error(), link) || !strings.Contains(err.Error(), filepath.Base(target)) {
				t.Errorf("got %v, want an error that names the link and its target", err)
			}
		})
	}
}

func TestSave_ALinkToElsewhereIsReadAndStays(t *testing.T) {
	root := writeTree(t, "a/main.tf", "b/all.hcl")
	link := linkIn(t, filepath.Join(root, "a"), "../b/all.hcl")
	must.Write(t, filepath.Join(root, "b/all.hcl"), example)
	locks, diags := Load(link, terraform)
	if diags.HasErrors() || !locks.Equal(exampleLocks(t)) {
		t.Errorf("got %v, %v", locks, diags)
	}
	if err := locks.Save(link, terraform); err != nil || !isSymlink(t, link) {
		t.Errorf("got %v where nothing changes", err)
	}
}

func TestSave_ReplacesASymlinkToAnotherUsersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	theirs := locked()
	link, target := linked(t, theirs)
	if err := os.Chown(target, 65534, 65534); err != nil {
		t.Skip("can't give a file to another user: ", err)
	}
	must.Succeed(t, exampleLocks(t).Save(link, terraform))
	if isSymlink(t, link) || read(t, target) != theirs {
		t.Error("another user's file was overwritten")
	}
}

func TestSave_ReplacesASymlinkToAnythingElse(t *testing.T) {
	link, target := linked(t, "alias ll='ls -l'\n")
	root := writeTree(t, ".git/config", "directory/x", "a/main.tf", "b/main.tf")
	links := map[string]string{
		"other file": link,
		"directory":  linkIn(t, filepath.Join(root, "a"), "../directory"),
		"nothing":    linkIn(t, filepath.Join(root, "b"), filepath.Join(t.TempDir(), "missing")),
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
	must.Equal(t, read(t, target), "alias ll='ls -l'\n", "another file was overwritten")
}
