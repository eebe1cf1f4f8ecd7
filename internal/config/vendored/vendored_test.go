package vendored_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// files maps slash-separated names to contents.
type files = map[string]string

func lay(t testing.TB, files files) string {
	t.Helper()
	return must.WriteAll(t, t.TempDir(), files)
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(peertest.Tree(t, dir)))
}

func ExampleBlock_Merge() {
	b := vendored.Block{Why: "For people.", Lines: []string{"!/kept/"}}
	content := b.Merge([]byte("*.zip\n"))
	fmt.Printf("%s%v\n", content, string(b.Merge(content)) == string(content))
	// Output:
	// *.zip
	//
	// # tfdeps vendor: begin. For people.
	// !/kept/
	// # tfdeps vendor: end
	// true
}

const own = "# tfdeps vendor: begin\n!/kept/\n# tfdeps vendor: end\n"

func TestTree_ABlockIsTheLastThatAFileSays(t *testing.T) {
	t.Parallel()
	b := vendored.Block{Lines: []string{"!/kept/"}}
	crlf := "a\r\n\r\n" + strings.ReplaceAll(own, "\n", "\r\n")
	for before, want := range map[string]string{
		"":                 own,                // no file
		"a\nb":             "a\nb\n\n" + own,   // other lines
		"a\n\n\n":          "a\n\n" + own,      // empty lines
		own:                own,                // alone
		"a\n" + own:        "a\n" + own,        // in its place
		own + "\n# more\n": own + "\n# more\n", // comments behind
		crlf:               crlf,               // CRLF
		"a\r\nb\r\n":       "a\r\nb\n\n" + own, // others' CRLF
		own + "*.zip\n":    "*.zip\n\n" + own,  // lines behind
		own + "a\n" + own:  "a\n\n" + own,      // twice
		"a\n\n" + strings.Replace(own, "kept", "was", 1):         "a\n\n" + own,                           // another block
		"a\n\n" + strings.Replace(own, "begin", "begin. Why", 1): "a\n\n" + own,                           // a comment changed
		"a\n\n" + strings.TrimSuffix(own, "\n"):                  "a\n\n" + strings.TrimSuffix(own, "\n"), // no last line end
		"# tfdeps vendor: begin\na\nb\n":                         "a\nb\n\n" + own,                        // no end
		"# tfdeps vendor: begin\na\n" + own + "b\n":              "a\nb\n\n" + own,                        // no end, then one
		"a\n# tfdeps vendor: end\n":                              "a\n# tfdeps vendor: end\n\n" + own,     // no beginning
	} {
		after := string(b.Merge([]byte(before)))
		must.Equal(t, after, want, before)
		must.Equal(t, string(b.Merge([]byte(after))), after, before)
	}
}

func FuzzBlockMerge(f *testing.F) {
	f.Add("a\n" + own)
	f.Add("# tfdeps vendor: begin\r\n# tfdeps vendor: begin\n\r# tfdeps vendor: end")
	f.Add("a\n" + strings.TrimSuffix(own, "\n")) // git needs no end of the last line
	f.Fuzz(func(t *testing.T, content string) {
		b := vendored.Block{Lines: []string{"!/kept/"}}
		once := b.Merge([]byte(content))
		must.Equal(t, string(b.Merge(once)), string(once), content)
		must.Contain(t, strings.ReplaceAll(string(once), "\r", "")+"\n", own, content, string(once))
	})
}

func TestTree_ABlockIsWrittenOnce(t *testing.T) {
	t.Parallel()
	b := vendored.Block{Lines: []string{"!/kept/"}}
	dir := lay(t, map[string]string{"some": "a\n"})
	for name, want := range map[string]string{"none": own, "some": "a\n\n" + own} {
		path := filepath.Join(dir, name)
		for _, outdated := range []bool{true, false} {
			was, err := b.Outdated(path)
			must.Succeed(t, err)
			changed, err := b.Apply(path)
			must.Succeed(t, err)
			content, err := os.ReadFile(path)
			if err != nil || was != outdated || changed != outdated || string(content) != want {
				t.Errorf("%s: %v, %v, %v, %q", name, was, changed, err, content)
			}
		}
	}
	must.Refuse(b.Apply(dir))(t, "a directory was written")
	link := filepath.Join(dir, "link")
	if must.Symlink("some", link) == nil {
		must.Contain(t, must.ErrorOf(b.Apply(link)), "git would not read it", "a link")
	}
}

func TestTree_TidyLeavesAloneWhatDoesNoHarm(t *testing.T) {
	t.Parallel()
	dir := lay(t, files{
		"main.tf": "", "sub/main.tf": "", ".gitignore": "# ours\n*.tfvars\n.terraform/\n!main.tf\n/main.tf.json\nsub/*.zip\n",
		".gitattributes": "*.png binary\n*.tf -text linguist-language=HCL\ndocs/** export-ignore\n", "empty/": "",
	})
	before, err := modulelock.HashTree(t.Context(), dir)
	must.Succeed(t, err)
	changed, err := vendored.Tidy(t.Context(), dir, []string{".", "sub"})
	must.Succeed(t, err)
	must.Equal(t, before, must.Get(modulelock.HashTree(t.Context(), dir))(t))
	must.Len(t, changed, 0)
}

func TestTree_TidyMendsWhatGitWouldNotKeep(t *testing.T) {
	t.Parallel()
	files := files{
		"main.tf": "", "a.zip": "", ".gitignore": "*.zip", "sub/.gitattributes": "* text=auto\n", "sub/.gitignore": "main.tf", "sub/x": "",
		".git/HEAD": "ref", "deep/down/.git": "gitdir: x", "deep/.GIT/HEAD": "ref", ".hg/x": "", "deep/down/x": "", "home/": "", "home2/": "",
	}
	if runtime.GOOS == "windows" {
		delete(files, "deep/.GIT/HEAD")
		files["deep/.GIT"] = ""
	}
	dir := lay(t, files)
	homes := []string{".", "home", "deep/down", "none"}
	found, err := vendored.Untidy(t.Context(), dir, homes)
	must.Succeed(t, err)
	changed, err := vendored.Tidy(t.Context(), dir, homes)
	must.Succeed(t, err)
	want := []string{".git", ".gitignore", ".hg", "deep/.GIT", "deep/down/.git", "home/.gitkeep", "sub/.gitattributes"}
	must.EqualSlices(t, found, want, "found")
	must.EqualSlices(t, changed, want, "changed")
	must.Len(t, must.Get(vendored.Tidy(t.Context(), dir, homes))(t), 0, "again")
	left := []string{".gitignore", "a.zip", "deep/down/x", "home/.gitkeep", "home2", "main.tf", "sub/.gitattributes", "sub/.gitignore", "sub/x"}
	must.EqualSlices(t, names(t, dir), left, "left")
	content, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	if err != nil || !strings.HasPrefix(string(content), "*.zip\n\n# tfdeps vendor: begin") {
		t.Errorf("%q, %v", content, err)
	}
	t.Run("a copy takes the place of a link", func(t *testing.T) {
		from := lay(t, map[string]string{"main.tf": "", "sub/x": "", ".git/HEAD": ""})
		dir := t.TempDir()
		link := filepath.Join(dir, "net")
		cachetest.LinkOrSkip(t, from, link)
		must.EqualSlices(t, must.Get(vendored.Untidy(t.Context(), link, nil))(t), []string{"."}, "found")
		ended, end := context.WithCancel(t.Context())
		end()
		must.Refuse(vendored.Tidy(ended, link, nil))(t)
		must.Get(os.Readlink(link))(t)
		must.Get(vendored.Tidy(t.Context(), link, nil))(t)
		must.EqualSlices(t, names(t, dir), []string{"net/main.tf", "net/sub/x"}, "there")
		must.Len(t, names(t, from), 3, "what it led to was changed")
		must.Succeed(t, os.Symlink(dir, filepath.Join(dir, "self")))
		must.Contain(t, must.ErrorOf(vendored.Tidy(t.Context(), filepath.Join(dir, "self"), nil)), "in itself", "a directory in itself")
	})
}

func TestTree_TheRecordIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Len(t, must.Get(vendored.ReadRecord(dir))(t).Platforms, 0, "none")
	linux, darwin := getproviders.Platform{OS: "linux", Arch: "amd64"}, getproviders.Platform{OS: "darwin", Arch: "arm64"}
	own := getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "own"}
	r := vendored.Record{Platforms: []getproviders.Platform{linux, darwin, linux}, LFS: true, Providers: []getproviders.Provider{own, own}, Modules: map[string]getproviders.Hash{
		"net": "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ=",
	}}
	must.Succeed(t, r.Save(dir))
	got, err := vendored.ReadRecord(dir)
	if err != nil || !slices.Equal(got.Platforms, []getproviders.Platform{darwin, linux}) || !slices.Equal(got.Providers, []getproviders.Provider{own}) || !got.LFS || got.Unpacked || got.Modules["net"] != r.Modules["net"] {
		t.Errorf("%+v, %v", got, err)
	}
	must.Equal(t, string(got.Encode()), string(r.Encode()))
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"format_version":"1.0","platforms":["linux_amd64"],"providers":["acme/net"],"modules":{"net":"h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ="}}`))
	f.Add([]byte(`{"format_version":"2.0"}`))
	f.Add([]byte(`{"format_version":"1","platforms":["linux"]}`))
	f.Add([]byte(`{"format_version":"1","modules":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := vendored.DecodeRecord(content)
		if err != nil {
			return
		}
		must.Equal(t, string(must.Get(vendored.DecodeRecord(r.Encode()))(t).Encode()), string(r.Encode()), string(content))
	})
}

func TestTree_UnitsAreWhatIsVendored(t *testing.T) {
	t.Parallel()
	const acme = "terraform.d/plugins/registry.terraform.io/acme/net/"
	for name, want := range map[string]string{
		".terraform.lock.hcl":                                   ".terraform.lock.hcl",
		"terraform.d/vendor.json":                               "terraform.d/vendor.json",
		".terraform/modules/modules.json":                       ".terraform/modules",
		".terraform/modules/net/main.tf":                        ".terraform/modules",
		acme + "terraform-provider-net_1.0.0_linux_amd64.zip":   acme + "terraform-provider-net_1.0.0_linux_amd64.zip",
		acme + "terraform-provider-net_1.0.0_SHA256SUMS.sig":    acme + "terraform-provider-net_1.0.0_SHA256SUMS.sig",
		acme + "terraform-provider-more_1.0.0_SHA256SUMS":       "",
		acme + "1.0.0/linux_amd64/terraform-provider-net":       acme + "1.0.0/linux_amd64",
		acme + "1.0.0/linux_amd64/docs/x":                       acme + "1.0.0/linux_amd64",
		acme + "1.0.0/linux_amd64":                              "",
		acme + "one/linux_amd64/x":                              "",
		acme + "1.0.0/linux/x":                                  "",
		acme + "README":                                         "",
		acme + "terraform-provider-net_1.0.0_linux_amd64.zip/x": "",
		acme + "terraform-provider-more_1.0.0_linux_amd64.zip":  "",
		"terraform.d/plugins/README":                            "",
		"terraform.d/plugins/a/b":                               "",
		"main.tf":                                               "",
		".terraform/providers/x":                                "",
		".terraform/terraform.tfstate":                          "",
	} {
		if unit, ok := vendored.Unit(name); ok != (want != "") || ok && unit != want {
			t.Errorf("%s: %q, %v", name, unit, ok)
		}
	}
}

func TestTree_WhatLooksLikeNoModuleIsNotUnneeded(t *testing.T) {
	t.Parallel()
	dir := lay(t, files{
		".terraform/modules/modules.json": "", ".terraform/modules/net/x": "", ".terraform/modules/net.dns/x": "", ".terraform/modules/gone/x": "",
		".terraform/modules/a b/x": "", ".terraform/modules/.tfdeps-1/x": "", ".terraform/modules/file": "",
	})
	unneeded := must.Get(vendored.Unneeded(dir, []string{"net", "net.dns"}))(t)
	must.EqualSlices(t, unneeded, []string{"gone"})
	must.Succeed(t, vendored.RemoveModules(dir, unneeded))
	must.Len(t, must.Get(vendored.Unneeded(dir, []string{"net", "net.dns"}))(t), 0, "left")
	if none, err := vendored.Unneeded(t.TempDir(), nil); err != nil || none != nil {
		t.Errorf("%q, %v", none, err)
	}
}

func TestTree_NamesThatDifferInCaseAreFound(t *testing.T) {
	t.Parallel()
	files := []vendored.File{{Name: "m/Net/x"}, {Name: "m/Net/y"}, {Name: "m/dns/X"}, {Name: "m/dns/x"}, {Name: "m/net/z"}}
	got := vendored.Colliding(files)
	if len(got) != 2 || got[0].Name != "m/dns/x" || got[1].Name != "m/net/z" {
		t.Errorf("%+v", got)
	}
}

func TestTree_PointersOfLFSAreFound(t *testing.T) {
	t.Parallel()
	dir := lay(t, files{
		"terraform.d/plugins/a.zip": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "terraform.d/plugins/b.zip": "PK",
		"terraform.d/plugins/c.zip": strings.Repeat("version https://git-lfs.github.com/spec/v1\n", 100),
	})
	files := must.Get(vendored.Files(dir, vendored.Places()))(t)
	if got := vendored.Pointers(dir, files); len(got) != 1 || got[0].Name != "terraform.d/plugins/a.zip" {
		t.Errorf("%+v", got)
	}
}

func TestTree_LinksThatLeadOutAreFound(t *testing.T) {
	t.Parallel()
	var files []vendored.File
	for _, link := range []string{"", "main.tf", "../../other/x", "../../../../x", "/etc/x"} {
		files = append(files, vendored.File{Name: ".terraform/modules/net/sub/l", Link: link})
	}
	if got := vendored.Outside(files); len(got) != 2 || got[0].Link != "../../../../x" {
		t.Errorf("%+v", got)
	}
	dir := lay(t, map[string]string{"terraform.d/plugins/": "", "elsewhere/": ""})
	must.Equal(t, vendored.Linked(dir), "")
	t.Run("in the place of a directory", func(t *testing.T) {
		cachetest.LinkOrSkip(t, "../elsewhere", filepath.Join(dir, ".terraform"))
		must.Equal(t, vendored.Linked(dir), ".terraform")
	})
}
