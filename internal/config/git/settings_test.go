package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// planter puts into a store what someone who can write to it would put there. Its programs make the file ran.
type planter struct {
	tb         testing.TB
	store, ran string
}

func (p planter) write(name, text string) {
	p.tb.Helper()
	path := filepath.Join(p.store, filepath.FromSlash(name))
	old, _ := os.ReadFile(path)
	must.Succeed(p.tb, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(old, text...), 0o755)))
}

// filter is a setting that has git start a program for files of the tree.
func (p planter) filter() string {
	return "[filter \"other\"]\n\tsmudge = \"touch " + p.ran + "; cat\"\n"
}

func (p planter) other(text string) (path string) {
	p.tb.Helper()
	path = filepath.Join(p.tb.TempDir(), "other")
	must.Write(p.tb, path, text)
	return peertest.ScriptPath(path)
}

// What lies in the store was put there by whoever can write to it: a CI cache, for one.
func TestStore_ObeysNoSettingsThatLieInIt(t *testing.T) {
	t.Parallel()
	needShell(t)
	for name, plant := range map[string]func(planter){
		"filter":       func(p planter) { p.write("config", p.filter()) },
		"include.path": func(p planter) { p.write("config", "[include]\n\tpath = "+p.other(p.filter())+"\n") },
		"includeIf": func(p planter) {
			p.write("config", "[includeIf \"gitdir:/**\"]\n\tpath = "+p.other(p.filter())+"\n")
		},
		"config.worktree": func(p planter) {
			p.write("config", "[extensions]\n\tworktreeConfig = true\n")
			p.write("config.worktree", p.filter())
		},
		"commondir": func(p planter) {
			dir := filepath.Join(p.tb.TempDir(), "common")
			must.Succeed(p.tb, os.CopyFS(dir, os.DirFS(p.store)))
			planter{p.tb, dir, p.ran}.write("config", p.filter())
			p.write("commondir", peertest.ScriptPath(dir)+"\n")
		},
		"info/attributes": func(p planter) { p.write("info/attributes", "* filter=user\n") },
		"core.alternateRefsCommand": func(p planter) {
			alternate := filepath.Join(p.tb.TempDir(), "alternate.git")
			must.Succeed(p.tb, os.CopyFS(alternate, os.DirFS(p.store)))
			p.write("objects/info/alternates", peertest.ScriptPath(filepath.Join(alternate, "objects"))+"\n")
			p.write("config", "[core]\n\talternateRefsCommand = \"touch "+p.ran+"; :\"\n")
		},
		"uploadpack.packObjectsHook": func(p planter) {
			p.write("config", "[uploadpack]\n\tpackObjectsHook = touch "+p.ran+"\n")
		},
		"core.fsmonitor, core.pager and hooks": func(p planter) {
			p.write("config", "[core]\n\tfsmonitor = touch "+p.ran+"\n\tpager = touch "+p.ran+"\n[alias]\n\tread-tree = !touch "+p.ran+"\n")
			p.write("hooks/post-index-change", "#!/bin/sh\ntouch "+p.ran+"\n")
			p.write("hooks/reference-transaction", "#!/bin/sh\ntouch "+p.ran+"\n")
		},
		"submodule": func(p planter) { p.write("config", "[submodule \"a\"]\n\tupdate = !touch "+p.ran+"\n") },
		"not readable": func(p planter) {
			must.Succeed(p.tb, errors.Join(os.Remove(filepath.Join(p.store, "config")), os.Symlink(p.other(p.filter()), filepath.Join(p.store, "config"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			first := o.commit("a.tf", "loud", ".gitattributes", "* filter=other\n")
			second := o.commit("b.tf", "b")
			b := newBench(t)
			b.configure("[filter \"user\"]\n\tsmudge = tr a-z A-Z\n")
			b.files(o.at(first))
			store := b.store()
			p := planter{t, store, peertest.ScriptPath(filepath.Join(b.work, "ran"))}
			plant(p)
			later := b.again()
			for _, ref := range []string{first, second} {
				_, files := later.files(o.at(ref))
				must.Equal(t, files["a.tf"], "loud")
			}
			must.Refuse(os.Lstat(filepath.Join(b.work, "ran")))(t, "a program ran")
			for _, name := range obeyed {
				must.Fail(t, must.ErrorOf(os.Lstat(filepath.Join(p.store, name))), fs.ErrNotExist, "there still", name)
			}
			if content, err := os.ReadFile(filepath.Join(p.store, "config")); err != nil || strings.Contains(string(content), p.ran) || strings.Count(string(content), "[") != 1 {
				t.Errorf("the config is %q, %v", content, err)
			}
		})
	}
}

// The program that a setting of the store names isn't started in ssh's place; nor are logins told to it.
func TestStore_StartsNoProgramsOfItsSettingsToFetch(t *testing.T) {
	needShell(t)
	o, ids, b := parallelBench(t)
	ssh := script(t, filepath.Join(b.work, "users-ssh"), `while [ $# -gt 1 ]; do shift; done; eval "$1"`)
	b.configure("[core]\n\tsshCommand = " + peertest.ScriptPath(ssh) + "\n[url \"ssh://git@example.com/\"]\n\tinsteadOf = https://git.invalid/\n")
	b.Environ = append(b.Environ, "GIT_SSH_VARIANT=simple")
	url := "https://git.invalid" + peertest.ScriptPath(o.dir)
	b.files(Request{URL: url, Ref: ids["main1"]})
	store := b.store()
	p := planter{t, store, peertest.ScriptPath(filepath.Join(b.work, "ran"))}
	p.write("config", fmt.Sprintf("[core]\n\tsshCommand = touch %s\n[credential]\n\thelper = !touch %[1]s\n[url \"ext::touch %[1]s \"]\n\tinsteadOf = https://git.\n", p.ran))
	if commit, _ := b.again().files(Request{URL: url, Ref: ids["dev1"]}); commit != ids["dev1"] { // with the user's own settings
		t.Errorf("got %s", commit)
	}
	must.Refuse(os.Lstat(filepath.Join(b.work, "ran")))(t, "a program ran")
}

// Links in a store would have git write elsewhere.
func TestStore_WritesThroughNoLinks(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.files(o.at(ids["main1"]))
	store := b.store()
	file := filepath.Join(b.work, "file")
	must.Write(t, file, "mine")
	for _, name := range []string{"FETCH_HEAD", completeName, "shallow"} {
		path := filepath.Join(store, name)
		_ = os.Remove(path)
		if err := must.Symlink(file, path); err != nil {
			t.Skip(err)
		}
	}
	b.again().files(o.at("v1.0.0~1"))
	must.Equal(t, string(must.Get(os.ReadFile(file))(t)), "mine", "the file")
}

// Stores of versions before this one have the config that git init writes, and objects/info.
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
			must.Equal(t, b.runs()["all"], 1, format)
			later.files(o.at(ids["dev1"]))
		}
	}
}

// A store that others can write to isn't used, and left as it is.
func TestStore_OfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	o, ids := history(t)
	b := newBench(t).count()
	req := o.at(ids["main1"])
	b.files(req)
	store := b.store()
	for _, dir := range []string{store, b.Dir, filepath.Dir(b.Dir)} {
		for _, mode := range []fs.FileMode{0o777, 0o770, 0o777 | fs.ModeSticky} {
			if dir == filepath.Dir(b.Dir) && mode&fs.ModeSticky != 0 {
				continue // like /tmp
			}
			was, err := os.Stat(dir)
			must.Succeed(t, errors.Join(err, os.Chmod(dir, mode)))
			b.runs()
			later := b.again()
			later.files(req)
			must.Equal(t, b.runs()["fetch"], 1, dir, mode)
			later.Close()
			must.Succeed(t, os.Chmod(dir, was.Mode()))
		}
	}
	b.runs()
	if b.again().files(req); b.runs()["fetch"] != 0 {
		t.Error("the store isn't used though nobody else can write to it, so this test shows nothing")
	}
}
