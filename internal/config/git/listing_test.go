package git

import (
	"maps"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestListing_IsRead(t *testing.T) {
	t.Parallel()
	a, b, c := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 64)
	for _, tc := range []struct {
		name, out, head string
		refs            map[string]string
	}{
		{"empty", "", "", map[string]string{}},
		{"usual", "ref: refs/heads/main\tHEAD\n" + a + "\tHEAD\n" + a + "\trefs/heads/main\n", "refs/heads/main", map[string]string{"HEAD": a, "refs/heads/main": a}},
		{"peeled", a + "\trefs/tags/v1\n" + b + "\trefs/tags/v1^{}\n", "", map[string]string{"refs/tags/v1": b}},
		{"peeled first", b + "\trefs/tags/v1^{}\n" + a + "\trefs/tags/v1\n", "", map[string]string{"refs/tags/v1": b}},
		{"wide", c + "\trefs/heads/x", "", map[string]string{"refs/heads/x": c}},
		{"symbolic ref that isn't HEAD", "ref: refs/heads/x\trefs/heads/y\n" + a + "\trefs/heads/y\n", "", map[string]string{"refs/heads/y": a}},
		{"oddities", "garbage\n" + a + " refs/heads/x\n" + a + "\t\n" + a + "\t^{}\n" + a[1:] + "\trefs/heads/x\n" + strings.ToUpper(a) + "\tx\n" + a + "\t-x\n" + a + "\ta\x01\n" + a + "\ta\tb\n", "", map[string]string{}},
	} {
		l := parseListing(tc.out)
		if l.head != tc.head || !maps.Equal(l.refs, tc.refs) {
			t.Errorf("%s: %+v", tc.name, l)
		}
	}
}

func TestListing_StateOfAListing(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	one := parseListing(a + "\tx\n" + b + "\ty\n").state()
	must.Equal(t, one, parseListing(b+"\ty\n"+a+"\tx\n").state(), "the order of the lines makes a difference")
	for _, out := range []string{"", a + "\tx\n", b + "\tx\n" + b + "\ty\n", a + "\tx\n" + b + "\tz\n"} {
		if parseListing(out).state() == one {
			t.Errorf("%q has the state of another listing", out)
		}
	}
}

func TestListing_Expressions(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]bool{
		"abcd": true, "ABCDEF0": true, "v1~2": true, "v1^": true, "main@{1}": true, "v1.0-3-gabcdef0": true,
		"abc": false, "v1.0.0": false, "mod@1.0.0": false, "feature/x": false, "nothex": false, "x-gophers": false,
	} {
		must.Equal(t, isExpression(ref), want, ref)
	}
}

func FuzzListing(f *testing.F) {
	a := strings.Repeat("a", 40)
	f.Add("ref: refs/heads/main\tHEAD\n"+a+"\tHEAD\n"+a+"\trefs/tags/v1^{}\n", "main")
	f.Add(a+"\trefs/heads/origin/x\n", "origin/x")
	f.Add(a+"\t\n", "refs/remotes/other")
	f.Fuzz(func(t *testing.T, out, ref string) {
		l := parseListing(out)
		for name, id := range l.refs {
			if name == "" || !isFullID(id) || checkText(name) != nil {
				t.Errorf("%q is %q", name, id)
			}
		}
		for _, branchFirst := range []bool{false, true} {
			if name, id, ok := l.find(ref, branchFirst); ok && l.refs[name] != id {
				t.Errorf("%q is found as %q %q", ref, name, id)
			}
		}
		if id := fullID(ref); id != "" && (!strings.EqualFold(id, ref) || !isFullID(id)) {
			t.Errorf("%q is the ID %q", ref, id)
		}
		_, _ = l.state(), isExpression(ref)
	})
}

func FuzzSubmodules(f *testing.F) {
	f.Add("submodule.a.path\na\x00submodule.a.url\n../b\x00", "160000 commit "+strings.Repeat("a", 40)+"\ta\x00")
	f.Add("submodule.a.b.path\n../x\x00submodule.a.b.url\n-x\x00", "100644 blob x\ta\x00")
	f.Add("submodule.path\x00submodule..url\nx\x00submodule.\n", "\t\x00")
	f.Fuzz(func(t *testing.T, settings, tree string) {
		modules, err := parseModules(settings)
		for _, m := range modules {
			if err != nil || m.path == "" || m.url == "" || checkPath(m.path) != nil {
				t.Errorf("%+v, %v", m, err)
			}
		}
		for path, commit := range parseTree(tree) {
			if !isFullID(commit) {
				t.Errorf("%q is %q", path, commit)
			}
		}
	})
}
