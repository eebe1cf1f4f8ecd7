package git

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// configure adds a submodule to the file .gitmodules.
func (o *origin) configure(name, path, url string) {
	o.tb.Helper()
	file := filepath.Join(o.dir, ".gitmodules")
	old, _ := os.ReadFile(file)
	must.Write(o.tb, file, fmt.Sprintf("%s[submodule %q]\n\tpath = %q\n\turl = %q\n", old, name, path, url))
}

// addSubmodule records a submodule without fetching it.
func (o *origin) addSubmodule(path, url, commit string) {
	o.tb.Helper()
	o.configure(path, path, url)
	o.git("update-index", "--add", "--cacheinfo", "160000,"+commit+","+path, ".gitmodules")
	o.git("commit", "--quiet", "--message=submodule")
}

func TestSubmodules_AreInTheTree(t *testing.T) {
	t.Parallel()
	inner, middle, outer := newOrigin(t), newOrigin(t), newOrigin(t)
	old := inner.commit("i", "inner 1")
	current := inner.commit("i", "inner 2")
	middle.commit("m", "middle")
	rel := must.Get(filepath.Rel(middle.dir, inner.dir))(t)
	middle.addSubmodule("deps/inner", filepath.ToSlash(rel), old)
	outer.commit("o", "outer")
	outer.addSubmodule("with space/middle", middle.url(), middle.git("rev-parse", "HEAD"))
	outer.addSubmodule("again", inner.url(), current)
	outer.addSubmodule("off", inner.url(), old)
	outer.git("config", "--file", ".gitmodules", "submodule.off.update", "none")
	outer.git("update-index", "--add", "--cacheinfo", "160000,"+old+",without-url")
	outer.git("add", ".gitmodules")
	outer.git("commit", "--quiet", "--message=x")

	b := newBench(t).count()
	for range 2 {
		_, files := b.files(outer.at(""))
		for name, content := range files {
			if filepath.Base(name) == ".gitmodules" {
				delete(files, name)
			} else if strings.Contains(name, ".git") {
				t.Errorf("there is %s: %q", name, content)
			}
		}
		want := map[string]string{
			"o": "outer", "with space/middle/m": "middle", "with space/middle/deps/inner/i": "inner 1", "again/i": "inner 2",
			"off": "/", "without-url": "/",
		}
		if !maps.Equal(files, want) {
			t.Errorf("got %q, want %q", files, want)
		}
	}
	if runs := b.runs(); runs["ls-remote"] != 1 || runs["fetch"] != 4 { // each commit once
		t.Errorf("%v", runs)
	}
}

func TestSubmodules_ThatAreRefused(t *testing.T) {
	t.Parallel()
	target := newOrigin(t)
	commit := target.commit("f", "x")
	for name, url := range map[string]string{
		"option": "--upload-pack=touch x", "helper": "ext::sh -c touch% x", "fd": "fd::3", "scheme": "foo://x/y", "host": "ssh://-oProxyCommand=x/y", "relative": "x/y",
	} {
		o := newOrigin(t)
		o.addSubmodule("sub", url, commit)
		err := newBench(t).refused(o.at(""))
		must.Fail(t, err, ErrAddress, name)
		must.Contain(t, err, `submodule "sub"`, name)
	}
	for _, path := range peertest.FirstIfShort(1, "../out", "a/../../out", ".git/hooks", "a/.GIT", "/abs") {
		o := newOrigin(t)
		o.configure("x", path, target.url())
		o.commit()
		if _, _, err := newBench(t).checkout(t.Context(), o.at("")); err == nil {
			t.Errorf("path %s is accepted", path)
		}
	}
}

// A path of two entries belongs to one submodule, wherever the entries are.
func TestSubmodules_EachPathIsThereOnce(t *testing.T) {
	t.Parallel()
	entry := func(name, path, url string) string {
		return "submodule." + name + ".path\n" + path + "\x00submodule." + name + ".url\n" + url + "\x00"
	}
	modules, err := parseModules(entry("1", "a", "z") + entry("2", "b", "m") + entry("3", "a", "a"))
	must.Succeed(t, err)
	must.EqualSlices(t, modules, []submodule{{path: "a", url: "a"}, {path: "b", url: "m"}})
	var all strings.Builder
	for i := range maxSubmodules {
		name := strconv.Itoa(i)
		all.WriteString(entry(name, name, "u"))
	}
	must.Len(t, must.Get(parseModules(all.String()))(t), maxSubmodules, "of as many as there may be are read")
	must.Contain(t, must.ErrorOf(parseModules(all.String()+entry("x", "x", "u"))), "more than 1000 submodules", "one more is accepted")
}

// A commit that the submodule's repository doesn't have, and one that was removed.
func TestSubmodules_SubmoduleThatIsNotThere(t *testing.T) {
	t.Parallel()
	there := newOrigin(t)
	there.commit("f", "x")
	for url, want := range map[string]error{"../nowhere": ErrUnreachable, there.url(): ErrNotFound} {
		o, commit := newOrigin(t), strings.Repeat("a", 40)
		o.addSubmodule("sub", url, commit)
		err := newBench(t).refused(o.at("main"))
		must.Fail(t, err, want)
		must.Contain(t, err, o.url())
		must.Equal(t, want == ErrNotFound, strings.Contains(err.Error(), "the repository has no ref "+strconv.Quote(commit)), url)
		if hint := getproviders.HintsOf(err)[0]; !strings.HasSuffix(hint, filepath.Base(url)) { // it isn't about the repository around it
			t.Errorf("%s: the hint is %q", url, hint)
		}
	}
}

// The oracle is the result of git submodule init for a relative URL.
func TestSubmodules_RelativeURLsOfSubmodules(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.addSubmodule("sub", "../c.git", strings.Repeat("a", 40))
	for _, c := range peertest.FirstIfShort(3, []struct{ parent, child string }{
		{"https://example.com/a/b.git", "../c.git"}, {"https://example.com/a/b.git", "./c.git"}, {"/srv/a", "../../c"},
		{"https://u:p@example.com:8443/a/b", ".././../c/"}, {"ssh://git@example.com/a/b.git", "../c.git"}, {"git@example.com:a/b.git", "../c.git"},
		{"git@example.com:b.git", "../c.git"}, {"git@example.com:a/b.git", "../../c.git"}, {"file:///srv/a/b", "../../c"}, {"/srv/a/b", "../c"},
		{"https://example.com/a/b.git/", "../../x/c"}, {"https://example.com/a/b.git", "https://example.org/c"}, {"https://example.com/a/b.git", "/srv/c"}, {"https://example.com/a", "../c/../d"},
	}...) {
		o.git("config", "--file", ".gitmodules", "submodule.sub.url", c.child)
		o.git("-c", "remote.origin.url="+c.parent, "submodule", "--quiet", "init")
		want := o.git("config", "submodule.sub.url")
		o.git("config", "--remove-section", "submodule.sub")
		must.Equal(t, must.Get(submoduleURL(c.parent, c.child))(t), want, c.child, c.parent)
	}
	for _, c := range []struct{ parent, child string }{{"https://example.com/a", "../../c"}, {"file:///a", "../../c"}, {"git@example.com:a", "../../c"}} {
		must.Fail(t, must.ErrorOf(submoduleURL(c.parent, c.child)), ErrAddress, c.child, c.parent)
	}
}

// entry is an entry of a tree object.
func entry(mode, name, id string) string {
	raw, _ := hex.DecodeString(id)
	return mode + " " + name + "\x00" + string(raw)
}

// Trees that try to write elsewhere fail.
func TestSubmodules_HostileTreesStayInside(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("f", "x")
	outside := t.TempDir()
	blob := o.raw("blob", "evil")
	file := o.raw("tree", entry("100644", "x", blob))
	hooks := o.raw("tree", entry("100755", "post-checkout", blob))
	link := func(target string) string { return o.raw("blob", target) }
	elsewhere := peertest.ScriptPath(outside)
	trees := map[string]string{
		"dotgit":         entry("40000", ".git", hooks),
		"dotgit-case":    entry("40000", ".GiT", hooks),
		"dotgit-short":   entry("40000", "git~1", hooks),
		"dotgit-file":    entry("100644", ".git", blob),
		"dotgit-ignored": entry("40000", ".g\u200cit", hooks),
		"dotdot":         entry("40000", "..", file),
		"slash":          entry("100644", "../../evil", blob),
		"absolute":       entry("100644", elsewhere+"/evil", blob),
		"link-then-dir":  entry("120000", "a", link(elsewhere)) + entry("40000", "a", file),
		"dir-then-link":  entry("40000", "a", file) + entry("120000", "a", link(elsewhere)),
		"link-then-case": entry("120000", "A", link(elsewhere)) + entry("40000", "a", file),
		"modules-link":   entry("120000", ".gitmodules", link(elsewhere+"/m")),
		"links":          entry("120000", "abs", link(elsewhere)) + entry("120000", "rel", link("../../..")),
		"deep":           entry("40000", "d", o.raw("tree", entry("40000", ".git", hooks))),
	}
	for name, tree := range trees {
		o.commitTree(name, o.raw("tree", tree))
	}
	b := newBench(t)
	if runtime.GOOS == "windows" { // where git's default is this
		b.configure("[core]\n\tsymlinks = false\n")
	}
	for name := range trees {
		_, dst, err := b.checkout(t.Context(), o.at(name))
		entries, _ := os.ReadDir(outside)
		must.Len(t, entries, 0, name)
		if strings.HasPrefix(name, "dot") && err == nil {
			t.Errorf("%s is accepted", name)
		}
		if err != nil {
			continue
		}
		for path := range peertest.Tree(t, dst) {
			must.NotContain(t, strings.ToLower(path), ".git/", name, path)
		}
		matches, _ := filepath.Glob(filepath.Join(b.work, "*/evil"))
		must.Len(t, matches, 0, name)
	}
}

func TestSubmodules_SubmoduleIsNotMovedThroughALink(t *testing.T) {
	t.Parallel()
	stage, outside := t.TempDir(), t.TempDir()
	must.Succeed(t, errors.Join(os.MkdirAll(filepath.Join(stage, "tree/real"), 0o755), os.MkdirAll(filepath.Join(stage, "submodule-0/tree"), 0o755),
		os.Mkdir(filepath.Join(stage, "tree/real/sub"), 0o755), os.Mkdir(filepath.Join(outside, "sub"), 0o755)))
	paths := []string{"absent", "link/sub", "link", "inner/sub"}
	if must.Symlink(outside, filepath.Join(stage, "tree/link")) != nil {
		paths = paths[:1] // Windows lets few users make links
	} else {
		must.Succeed(t, os.Symlink("real", filepath.Join(stage, "tree/inner")))
	}
	root := must.Get(os.OpenRoot(stage))(t)
	defer root.Close()
	for _, path := range paths {
		must.Refuse(moveInto(root, submodule{path: path, stage: "submodule-0"}))(t, path)
	}
	must.Succeed(t, moveInto(root, submodule{path: "real/sub", stage: "submodule-0"}))
}
