package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

var cachedNull = providercache.StoredPackage{
	Provider: getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "null"},
	Version:  getproviders.MustParseVersion("3.2.0"),
	Platform: getproviders.Platform{OS: "linux", Arch: "amd64"},
}

func TestCacheRemoval_IsOneLine(t *testing.T) {
	two := []providercache.StoredPackage{cachedNull, cachedNull}
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
		{providercache.Removal{Kept: []providercache.Kept{{Package: linked, Why: providercache.ErrInUse}, {Package: cachedNull, Why: providercache.ErrInUse}}}, false,
			"Kept registry.terraform.io/hashicorp/null 3.2.0 linux_amd64: " + filepath.FromSlash("/work/net") + " has a link to it\n" +
				"Kept registry.terraform.io/hashicorp/null 3.2.0 linux_amd64: it is in use\n" +
				"Removed no packages\n"},
	} {
		must.Equal(t, CacheRemoval(new(providercache.Store), c.done, c.dryRun, 0, 0).People, c.want, c.done)
	}
}

func TestCacheList_NamesAFewUsersOfEachPackage(t *testing.T) {
	p := cachedNull
	p.Users = []string{"/a/.terraform/providers", "/b\x1b[31m", "/c", "/d", "/e"}
	got := CacheList(&providercache.Store{Dir: "/cache"}, []providercache.StoredPackage{p}).People
	for _, want := range []string{"\n  in " + filepath.FromSlash("/a") + "\n", "\n  in /c\n", "\n  and 2 more\n", "\n1 package in /cache: "} {
		must.Contain(t, got, want)
	}
	if strings.ContainsAny(got, "\x1b") || strings.Contains(got, "/d") {
		t.Errorf("there is more in\n%q", got)
	}
}

// JSON has everything that the text has, with words that don't change, and lists that are never
// null.
func TestCacheResults_JSON(t *testing.T) {
	cache := &providercache.Store{Dir: "/cache"}
	linked, used := cachedNull, cachedNull
	linked.Linked = []string{"/work/net/.terraform/providers"}
	used.LastUse = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	selection := getproviders.Selection{Provider: cachedNull.Provider, Version: cachedNull.Version}
	receipts := true
	for name, c := range map[string]struct {
		report *Result
		want   string // compact, with bars between parts
	}{
		"nothing removed": {CacheRemoval(cache, providercache.Removal{}, false, 0, 0), `"dry_run":false|"freed":0|"shared_with":[]|"removed":[]|"kept":[]|"modules":{"entries":0,"bytes":0}`},
		"removed": {CacheRemoval(cache, providercache.Removal{
			Removed: []providercache.StoredPackage{used}, Freed: 5, Shared: 6, SharedWith: []string{"/a"},
			Kept: []providercache.Kept{
				{Package: linked, Why: providercache.ErrInUse}, {Package: cachedNull, Why: providercache.ErrInUse},
				{Package: cachedNull, Why: providercache.ErrUnmanaged}, {Package: cachedNull, Why: io.ErrUnexpectedEOF},
			}}, true, 2, 7), `"dry_run":true|"freed":5,"shared":6,"shared_with":["/a"]|"last_use":"2026-01-02T03:04:05Z"|` +
			`"reason":"linked","detail":"it is in use","linked_by":["/work/net/.terraform/providers"]|"reason":"in_use"|"reason":"no_receipt"|` +
			`"reason":"failed","detail":"unexpected EOF"|"modules":{"entries":2,"bytes":7}`},
		"nothing verified": {CacheVerification("", cache, nil, nil), `"packages":[],"removed":[],"kept":[],"summary":{"packages":0,"findings":{}}`},
		"verified": {CacheVerification("", cache, []providercache.Verified{
			{Package: cachedNull, Finding: providercache.Corrupt, H1: "h1:a=", Expected: []getproviders.Hash{"h1:b="}},
			{Package: cachedNull, Finding: providercache.Corrupt, Err: io.ErrUnexpectedEOF},
			{Package: cachedNull, Finding: providercache.OK, H1: "h1:b="}}, &providercache.Removal{Removed: []providercache.StoredPackage{used}}), `"finding":"damaged","h1":"h1:a=","expected":["h1:b="]}|"finding":"damaged","expected":[],"error":"unexpected EOF","code":"failed"}|` +
			`"finding":"sound","h1":"h1:b=","expected":[]}|"removed":[{"address":"registry.terraform.io/hashicorp/null"`},
		"nothing filled": {CacheFilling(cache, nil, nil, nil), `"packages":[],"receipts":null`},
		"filled": {CacheFilling(cache, []providercache.Outcome{
			{Selection: selection, Platform: cachedNull.Platform, State: event.Fetched},
			{Selection: selection, Platform: cachedNull.Platform, State: event.Present},
			{Selection: getproviders.Selection{Provider: cachedNull.Provider}, Platform: cachedNull.Platform, Err: io.ErrUnexpectedEOF}}, &receipts, func(providercache.Outcome) (none Span) { return none }), `"version":"3.2.0","platform":"linux_amd64","directory":"/cache/registry.terraform.io/hashicorp/null/3.2.0/linux_amd64","added":true}|"added":false},{|` +
			`"platform":"linux_amd64","added":false,"error":"unexpected EOF","code":"failed"}|"receipts":true`},
	} {
		var b, compact bytes.Buffer
		err := errors.Join(Write(&b, c.report, true, Run{}), json.Compact(&compact, b.Bytes()))
		got := strings.ReplaceAll(compact.String(), `\\`, `/`) // on Windows
		for _, want := range strings.Split(c.want+`|{"format_version":"1.0","directory":"/cache","named":false,`, "|") {
			must.Succeed(t, err, name)
			must.Contain(t, got, want, name)
		}
	}
}

func TestGitHubOutput_ValuesCanHaveAnyContent(t *testing.T) {
	var b strings.Builder
	GitHubOutput(&b, [][2]string{{"path", "/a\nend-x"}, {"key", "k"}})
	lines := strings.Split(b.String(), "\n")
	name, mark, ok := strings.Cut(lines[0], "<<")
	if !ok || name != "path" || lines[1] != "/a" || lines[2] != "end-x" || lines[3] != mark || !strings.HasPrefix(lines[4], "key<<") {
		t.Errorf("%q", lines)
	}
}

func TestTable_KeepsColumnsWhereAValueIsEmpty(t *testing.T) {
	t.Parallel()
	must.Equal(t, Table([][]string{{"a", "1", "x"}, {"longer", "", ""}, {"b", "2", ""}}), "a       1  x\nlonger\nb       2\n")
}
