package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// otherFilter is a setting that makes git start a program for files of the tree.
const otherFilter = "[filter \"other\"]\n\tsmudge = \"touch RAN; cat\"\n"

// plant adds files to a store as an attacker with write access would; a content with the prefix "-> " is a symlink. RAN is the file that
// their programs create, OTHER one with a filter, which is returned, and COPY a copy of the store with that filter.
func (b *bench) plant(files map[string]string) (other string) {
	b.tb.Helper()
	store, copied := b.store(), filepath.Join(b.tb.TempDir(), "copy")
	other = filepath.Join(filepath.Dir(copied), "other")
	expand := strings.NewReplacer("RAN", peertest.ScriptPath(filepath.Join(b.work, "ran")), "OTHER", peertest.ScriptPath(other), "COPY", peertest.ScriptPath(copied))
	must.Succeed(b.tb, os.CopyFS(copied, os.DirFS(store)))
	add := func(path, text string) {
		old, _ := os.ReadFile(path)
		must.Succeed(b.tb, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(old, expand.Replace(text)...), 0o755)))
	}
	add(other, otherFilter)
	add(filepath.Join(copied, "config"), otherFilter)
	for name, text := range files {
		path := filepath.Join(store, filepath.FromSlash(name))
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			_ = os.Remove(path) // it may be absent
			if err := must.Symlink(expand.Replace(target), path); err != nil {
				b.tb.Skip("no symbolic links here: ", err)
			}
		} else {
			add(path, text)
		}
	}
	return other
}

// Whoever can write to the store may have added files, for instance to a CI cache.
func TestStore_ObeysNoSettingsThatLieInIt(t *testing.T) {
	t.Parallel()
	needShell(t)
	for name, files := range map[string]map[string]string{
		"filter":                     {"config": otherFilter},
		"include.path":               {"config": "[include]\n\tpath = OTHER\n"},
		"includeIf":                  {"config": "[includeIf \"gitdir:/**\"]\n\tpath = OTHER\n"},
		"config.worktree":            {"config": "[extensions]\n\tworktreeConfig = true\n", "config.worktree": otherFilter},
		"commondir":                  {"commondir": "COPY\n"},
		"info/attributes":            {"info/attributes": "* filter=user\n"},
		"core.alternateRefsCommand":  {"objects/info/alternates": "COPY/objects\n", "config": "[core]\n\talternateRefsCommand = \"touch RAN; :\"\n"},
		"uploadpack.packObjectsHook": {"config": "[uploadpack]\n\tpackObjectsHook = touch RAN\n"},
		"core.fsmonitor, core.pager and hooks": {
			"config":                  "[core]\n\tfsmonitor = touch RAN\n\tpager = touch RAN\n[alias]\n\tread-tree = !touch RAN\n",
			"hooks/post-index-change": "#!/bin/sh\ntouch RAN\n", "hooks/reference-transaction": "#!/bin/sh\ntouch RAN\n",
		},
		"submodule":    {"config": "[submodule \"a\"]\n\tupdate = !touch RAN\n"},
		"not readable": {"config": "-> OTHER"},
		"links":        {"FETCH_HEAD": "-> OTHER", completeName: "-> OTHER", "shallow": "-> OTHER"}, // git would write to OTHER
	} {
		t.Run(name, func(t *testing.T) {
			o, b := emptyBench(t)
			first := o.commit("a.tf", "loud", ".gitattributes", "* filter=other\n")
			o.commit("b.tf", "b")
			b.configure("[filter \"user\"]\n\tsmudge = tr a-z A-Z\n")
			b.files(o.at(first))
			other := b.plant(files)
			before := must.Get(os.ReadFile(other))(t)
			later := b.again()
			for _, ref := range []string{"HEAD~0", first} { // all branches and tags are fetched for the first one
				_, files := later.files(o.at(ref))
				must.Equal(t, files["a.tf"], "loud")
			}
			must.Refuse(os.Lstat(filepath.Join(b.work, "ran")))(t, "a program ran")
			must.EqualSlices(t, must.Get(os.ReadFile(other))(t), before, "another file")
			for _, name := range obeyed {
				must.Fail(t, must.ErrorOf(os.Lstat(filepath.Join(b.store(), name))), fs.ErrNotExist, "there still", name)
			}
			if content, err := os.ReadFile(filepath.Join(b.store(), "config")); err != nil || strings.Contains(string(content), b.work) || strings.Count(string(content), "[") != 1 {
				t.Errorf("the config is %q, %v", content, err)
			}
		})
	}
}

// A program in a setting of the store isn't started instead of ssh, and receives no credentials.
func TestStore_StartsNoProgramsOfItsSettingsToFetch(t *testing.T) {
	needShell(t)
	o, ids, b := parallelBench(t)
	ssh := script(t, filepath.Join(b.work, "users-ssh"), `while [ $# -gt 1 ]; do shift; done; eval "$1"`)
	b.configure("[core]\n\tsshCommand = " + peertest.ScriptPath(ssh) + "\n[url \"ssh://git@example.com/\"]\n\tinsteadOf = https://git.invalid/\n")
	b.Environ = append(b.Environ, "GIT_SSH_VARIANT=simple")
	url := "https://git.invalid" + peertest.ScriptPath(o.dir)
	b.files(Request{URL: url, Ref: ids["main1"]})
	b.plant(map[string]string{"config": "[core]\n\tsshCommand = touch RAN\n[credential]\n\thelper = !touch RAN\n[url \"ext::touch RAN \"]\n\tinsteadOf = https://git.\n"})
	if commit, _ := b.again().files(Request{URL: url, Ref: ids["dev1"]}); commit != ids["dev1"] { // with the user's own settings
		t.Errorf("got %s", commit)
	}
	must.Refuse(os.Lstat(filepath.Join(b.work, "ran")))(t, "a program ran")
}

// Stores of earlier versions have the config that git init writes, and objects/info.
func TestStore_TakesThatOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		o, ids := history(t, "--object-format="+format)
		b := newBench(t).count()
		b.files(o.at(ids["main1"]))
		store := b.store()
		plain := newOrigin(t, "--bare", "--object-format="+format)
		for _, config := range []string{"", "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tsomethingNew = x\n"} {
			if config == "" {
				old := must.Get(os.ReadFile(filepath.Join(plain.dir, "config")))(t)
				config = string(old) + "\tignorecase = true\n"
			}
			must.Succeed(t, errors.Join(os.WriteFile(filepath.Join(store, "config"), []byte(config), 0o600), os.MkdirAll(filepath.Join(store, "objects/info"), 0o755)))
			b.runs()
			later := b.again()
			_, files := later.files(o.at(ids["main1"]))
			must.Equal(t, files["f"], "main1", format, files)
			must.Equal(t, b.runs()["all"], 2, format)
			later.files(o.at(ids["dev1"]))
		}
	}
}

// A store that others can write to isn't used, and stays unchanged.
func TestStore_OfOthersIsNotUsed(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.count()
	req := o.at(ids["main1"])
	b.files(req)
	store := b.store()
	type way struct {
		dir  string
		open func(dir string) error
	}
	ways := []way{{store, cachetest.OpenToAll}, {b.Dir, cachetest.OpenToAll}}
	if runtime.GOOS != "windows" { // which has access lists, and asks nothing of the directories above
		chmod := func(mode fs.FileMode) func(string) error {
			return func(dir string) error { return os.Chmod(dir, mode) }
		}
		above, forGroup, likeTmp := filepath.Dir(b.Dir), chmod(0o770), chmod(0o777|fs.ModeSticky)
		ways = append(ways, way{above, cachetest.OpenToAll}, way{above, forGroup}, way{b.Dir, forGroup}, way{b.Dir, likeTmp}, way{store, forGroup}, way{store, likeTmp})
	}
	for i, w := range ways {
		must.Succeed(t, w.open(w.dir))
		b.runs()
		later := b.again()
		later.files(req)
		must.Equal(t, b.runs()["fetch"], 1, i, w.dir)
		later.Close()
		must.Succeed(t, owner.Chmod(w.dir, 0o700))
	}
	b.runs()
	if b.again().files(req); b.runs()["fetch"] != 0 {
		t.Error("the store isn't used though nobody else can write to it, so this test shows nothing")
	}
}
