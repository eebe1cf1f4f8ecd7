package view

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

var cachedNull = providercache.Cached{
	Provider: getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "null"},
	Version:  getproviders.MustParseVersion("3.2.0"),
	Platform: getproviders.Platform{OS: "linux", Arch: "amd64"},
}

func TestWhatWasRemovedIsOneLine(t *testing.T) {
	two := []providercache.Cached{cachedNull, cachedNull}
	linked := cachedNull
	linked.Linked = []string{"/work/net/.terraform/providers"}
	for _, c := range []struct {
		done   providercache.Removal
		dryRun bool
		want   string
	}{
		{providercache.Removal{}, false, "Removed no packages\n"},
		{providercache.Removal{}, true, "Would remove no packages\n"},
		{providercache.Removal{Removed: two, Freed: 6.1e9}, false, "Removed 2 packages, freed 6.1 GB\n"},
		{providercache.Removal{Removed: two[:1], Freed: 6.1e9, Shared: 2e9, SharedWith: []string{"a", "b", "c"}}, false,
			"Removed 1 package, freed 6.1 GB (2.0 GB shared with 3 directories)\n"},
		{providercache.Removal{Removed: two[:1], Shared: 2e9, SharedWith: []string{"a"}}, false,
			"Removed 1 package, freed 0 kB (2.0 GB shared with 1 directory)\n"},
		{providercache.Removal{Removed: two[:1], Shared: 2e9}, true,
			"Would remove registry.terraform.io/hashicorp/null 3.2.0 linux_amd64\n" +
				"Would remove 1 package, which frees 0 kB (2.0 GB shared with other directories)\n"},
		{providercache.Removal{Kept: []providercache.Spared{{Cached: linked, Why: providercache.ErrInUse}, {Cached: cachedNull, Why: providercache.ErrInUse}}}, false,
			"Kept registry.terraform.io/hashicorp/null 3.2.0 linux_amd64: /work/net has a link to it\n" +
				"Kept registry.terraform.io/hashicorp/null 3.2.0 linux_amd64: it is in use\n" +
				"Removed no packages\n"},
	} {
		var b strings.Builder
		CacheRemoved(&b, c.done, c.dryRun)
		if b.String() != c.want {
			t.Errorf("%+v:\n%s\nnot\n%s", c.done, b.String(), c.want)
		}
	}
}

func TestAListNamesAFewUsersOfEachPackage(t *testing.T) {
	p := cachedNull
	p.Users = []string{"/a/.terraform/providers", "/b\x1b[31m", "/c", "/d", "/e"}
	var b strings.Builder
	list := CacheList{Cache: &providercache.Cache{Dir: "/cache"}, Packages: []providercache.Cached{p}}
	if err := list.Text(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"\n  in /a\n", "\n  in /c\n", "\n  and 2 more\n", "\n1 package in /cache: "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b") || strings.Contains(got, "/d") {
		t.Errorf("there is more in\n%q", got)
	}
}

func TestValuesForGitHubCanHaveAnyContent(t *testing.T) {
	var b strings.Builder
	GitHubOutput(&b, [][2]string{{"path", "/a\nend-x"}, {"key", "k"}})
	lines := strings.Split(b.String(), "\n")
	name, mark, ok := strings.Cut(lines[0], "<<")
	if !ok || name != "path" || lines[1] != "/a" || lines[2] != "end-x" || lines[3] != mark || !strings.HasPrefix(lines[4], "key<<") {
		t.Errorf("%q", lines)
	}
}
