package depsfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
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
	for _, lock := range []Lock{
		{Provider: getproviders.Provider{Hostname: "x", Namespace: "Bad Name", Type: "../.."}},
		{Provider: provider(t, "acme/aaa"), Version: getproviders.Version{Prerelease: "a b"}},
	} {
		must.Contain(t, locksOf(lock).Save(filepath.Join(dir, "invalid"), terraform), "dependency lock file")
	}
	onlyFiles(t, dir, FileName)
	if err := locktext.SaveText(filepath.Join(dir, "missing/text"), []byte("x")); err == nil {
		t.Error("text is saved in a directory that isn't there")
	}
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

func giveToAnother(t *testing.T, file string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	must.Succeed(t, os.Chown(file, 65534, 65534))
}

// A link in place of the lock file may lead to another one of the same repository, which is written. That of another repository
// stays, and is an error. A link to anything else is replaced.
func TestSave_LinkInPlaceOfTheLockFile(t *testing.T) {
	const written, unchanged, refused, replaced = "written", "unchanged", "refused", "replaced"
	content := func(text string) func(*testing.T, string) {
		return func(t *testing.T, target string) { must.Write(t, target, text) }
	}
	for name, c := range map[string]struct {
		files         []string // one of them is the target
		dir, to, want string
		prepare       func(t *testing.T, target string)
	}{
		"beside it":                        {[]string{"target"}, ".", "target", written, nil},
		"within a repository":              {[]string{".git/config", "locks/all.hcl", "app/main.tf"}, "app", "../locks/all.hcl", written, nil},
		"of a work tree":                   {[]string{".git", "locks/all.hcl", "app/main.tf"}, "app", "../locks/all.hcl", written, nil},
		"to its root":                      {[]string{".git/config", "all.hcl", "a/b/main.tf"}, "a/b", "../../all.hcl", written, nil},
		"of another repository":            {[]string{"a/.git/config", "b/.git/config", "b/all.hcl"}, "a", "../b/all.hcl", refused, nil},
		"of a repository within":           {[]string{".git/config", "b/.git/config", "b/all.hcl"}, ".", "b/all.hcl", refused, nil},
		"of the repository around":         {[]string{".git/config", "all.hcl", "b/.git/config"}, "b", "../all.hcl", refused, nil},
		"from a repository to elsewhere":   {[]string{"a/.git/config", "all.hcl"}, "a", "../all.hcl", refused, nil},
		"without a repository":             {[]string{"a/main.tf", "b/all.hcl"}, "a", "../b/all.hcl", refused, nil},
		"elsewhere, with the same content": {[]string{"a/main.tf", "b/all.hcl"}, "a", "../b/all.hcl", unchanged, content(example)},
		"a file elsewhere that is no lock": {[]string{"a/main.tf", "b/x"}, "a", "../b/x", refused, nil},
		"within another user's repository": {[]string{".git/config", "a/main.tf", "b/all.hcl"}, "a", "../b/all.hcl", refused, func(t *testing.T, target string) {
			shared := filepath.Dir(filepath.Dir(target))
			must.Succeed(t, os.Chmod(shared, fs.ModeSticky|0o777))
			giveToAnother(t, filepath.Join(shared, ".git"))
		}},
		"to no lock file": {[]string{"target"}, ".", "target", replaced, content("alias ll='ls -l'\n")},
		"to a directory":  {[]string{".git/config", "directory/x", "a/main.tf"}, "a", "../directory", replaced, nil},
		"to nothing":      {[]string{"b/main.tf"}, "b", "../missing", replaced, nil},
		"by way of another link": {[]string{"target", "middle"}, ".", "middle", written, func(t *testing.T, middle string) {
			must.Succeed(t, errors.Join(os.Remove(middle), os.Symlink("target", middle)))
		}},
		"to another user's file": {[]string{"target"}, ".", "target", replaced, giveToAnother},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(writeTree(t, c.files...), c.dir)
			link := filepath.Join(dir, FileName)
			if err := must.Symlink(filepath.FromSlash(c.to), link); err != nil {
				t.Skip("no right to make symlinks: ", err)
			}
			if runtime.GOOS == "windows" && c.want == written {
				t.Skip("nothing tells a file's owner here")
			}
			if c.prepare != nil {
				c.prepare(t, filepath.Join(dir, c.to))
			}
			target, _ := filepath.EvalSymlinks(link)
			before, _ := os.ReadFile(target)
			entries := must.Get(os.ReadDir(dir))(t)
			err := exampleLocks(t).Save(link, terraform)
			after, _ := os.ReadFile(target)
			leadsTo := must.Get(filepath.EvalSymlinks(link))(t)
			must.Equal(t, leadsTo == target, c.want != replaced, leadsTo)
			must.Len(t, must.Get(os.ReadDir(dir))(t), len(entries))
			if c.want == refused || c.want == replaced {
				must.Equal(t, string(after), string(before), "another file was rewritten")
			}
			if c.want == refused {
				must.Contain(t, err, link)
				must.Contain(t, err, filepath.Base(target))
				return
			}
			must.Succeed(t, err)
			must.Equal(t, string(must.Get(os.ReadFile(link))(t)), example)
			locks, diags := Load(link, terraform)
			must.Equal(t, locks.Equal(exampleLocks(t)) && !diags.HasErrors(), true, diags)
		})
	}
}
