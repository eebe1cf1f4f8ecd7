package store_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

const widget = "registry.terraform.io/acme/widget"

// unobserved drops the events.
func unobserved(context.Context, event.Event) {}

// readTree reads the packages in a directory.
func readTree(tb testing.TB, dir string) store.ReadTree {
	tb.Helper()
	trees, err := store.ReadTrees(tb.Context(), []string{dir}, unobserved)
	if err != nil || trees[0].Err != nil {
		tb.Fatal(err, trees[0].Err)
	}
	return trees[0]
}

var (
	widgetFiles   = map[string]string{"terraform-provider-widget": "one"}
	linuxPackages = store.CompareOptions{Platforms: []getproviders.Platform{linux}}
)

func TestComparedPackages(t *testing.T) {
	t.Parallel()
	h1 := h1Of(t, widgetFiles)
	packed := zipOf(t, map[string]string{"terraform-provider-widget": "one", "docs/": ""})
	_, zh, h1Archive := packageHashes(t, packed)
	unpacked := map[string]string{widget + "/1.0.0/linux_amd64/terraform-provider-widget": "one"}
	archive := func(content []byte) map[string]string {
		return map[string]string{widget + "/terraform-provider-widget_1.0.0_linux_amd64.zip": string(content)}
	}
	const other = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for name, test := range map[string]struct {
		files map[string]string
		locks *depsfile.Locks
		want  string
	}{
		"sound":                             {unpacked, lockOf("1.0.0", other, h1), "sound"},
		"missing":                           {nil, lockOf("1.0.0", h1), "missing"},
		"another version":                   {unpacked, lockOf("1.0.1", h1), "not_locked missing"},
		"no entry":                          {unpacked, nil, "not_locked"},
		"another hash":                      {unpacked, lockOf("1.0.0", other, zh), "differs"},
		"unpacked, with the archive's hash": {unpacked, lockOf("1.0.0", zh), "unproven"},
		"no hashes":                         {unpacked, lockOf("1.0.0"), "unproven"},
		"packed":                            {archive(packed), lockOf("1.0.0", zh), "sound"},
		"packed, by its files":              {archive(packed), lockOf("1.0.0", h1), "sound"},
		"packed, with its directories":      {archive(packed), lockOf("1.0.0", h1Archive), "sound"},
		"packed, another hash":              {archive(packed), lockOf("1.0.0", zhOfBytes(nil)), "differs"},
		"packed and torn":                   {archive(packed[:40]), lockOf("1.0.0", zh), "differs"},
		"packed, torn, and no zh":           {archive(packed[:40]), lockOf("1.0.0", h1), "unreadable"},
		"packed and without hashes":         {archive(packed), lockOf("1.0.0"), "unproven"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for path, content := range test.files {
				write(t, filepath.Join(dir, path), content)
			}
			var got []string
			for _, c := range readTree(t, dir).Compare(test.locks, linuxPackages) {
				got = append(got, string(c.Finding))
				if c.Differs() && c.Unclear() || (c.Finding == store.OK) == (c.Differs() || c.Unclear()) {
					t.Errorf("%s differs: %t, unclear: %t", c.Finding, c.Differs(), c.Unclear())
				}
			}
			must.Equal(t, strings.Join(got, " "), test.want)
		})
	}
}

func TestReadTrees_PassOverWhatIsNoPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{
		widget + "/1.0.0/linux_amd64/terraform-provider-widget", widget + "/index.json", widget + "/SHA256SUMS", widget + "/1.0.0/linux/x",
		widget + "/newest/linux_amd64/x", ".tfdeps-1/acme/widget/1.0.0/linux_amd64/x", "a/b", "not a host/acme/widget/1.0.0/linux_amd64/x", "terraform-provider-widget_1.0.0_linux_amd64.zip",
	} {
		write(t, filepath.Join(dir, path), path)
	}
	got := readTree(t, dir).Packages
	must.Len(t, got, 1)
	must.Equal(t, got[0].Platform, linux)
}

func TestReadTrees_ReportHowMuchIsRead(t *testing.T) {
	t.Parallel()
	dir, large := t.TempDir(), installtest.Noise(20_000_000)
	write(t, filepath.Join(dir, widget+"/1.1.0/darwin_arm64/terraform-provider-widget"), large)
	write(t, filepath.Join(dir, widget+"/terraform-provider-widget_1.0.0_linux_amd64.zip"),
		string(zipOf(t, map[string]string{"terraform-provider-widget": large})))
	steps, mu := map[string]int{}, new(sync.Mutex)
	trees := must.Get(store.ReadTrees(t.Context(), []string{dir}, event.Observer(func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == event.HashProgress {
			steps[fmt.Sprint(e.Version, " ", filepath.Base(e.Path), " ", e.Done/8_000_000)]++
		}
	})))(t)
	must.Equal(t, trees[0].Packages[0].Packed, true) // the older version
	const unpacked, packed = "1.1.0 darwin_arm64 ", "1.0.0 terraform-provider-widget_1.0.0_linux_amd64.zip "
	if want := map[string]int{unpacked + "1": 1, unpacked + "2": 1, packed + "1": 1, packed + "2": 1}; !maps.Equal(steps, want) {
		t.Errorf("reported were %v, want %v", steps, want)
	}
	t.Run("once for two links", func(t *testing.T) {
		cache, dirs := t.TempDir(), []string{t.TempDir(), t.TempDir()}
		at := filepath.FromSlash(widget + "/1.0.0/linux_amd64")
		write(t, filepath.Join(cache, at, "terraform-provider-widget"), "one")
		for _, dir := range dirs {
			succeed(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o755))
			cachetest.LinkOrSkip(t, filepath.Join(cache, at), filepath.Join(dir, at))
		}
		var events []string
		trees := must.Get(store.ReadTrees(t.Context(), dirs, event.Observer(func(e event.Event) {
			switch e.Kind {
			case event.Queued:
				events = append(events, fmt.Sprint("verify ", slices.Collect(maps.Values(e.Sizes))))
			case event.Hashing, event.Hashed:
				events = append(events, fmt.Sprintf("%s %s", e.Kind, e.Provider))
			}
		})))(t)
		must.EqualSlices(t, events, []string{"verify [3]", "hashing " + widget, "hashed " + widget})
		for _, tree := range trees {
			must.Len(t, tree.Packages, 1)
			must.Equal(t, tree.Packages[0].H1, h1Of(t, widgetFiles))
		}
		succeed(t, os.RemoveAll(filepath.Join(cache, at)))
		found := readTree(t, dirs[0]).Compare(lockOf("1.0.0", h1Of(t, widgetFiles)), linuxPackages)
		must.Len(t, found, 1)
		must.Equal(t, found[0].Finding, store.Dangling)
		must.Fail(t, found[0].Err, store.ErrDangling)
	})
}

func TestComparedPackages_SharedTreesMayHaveMore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, widget+"/1.0.0/linux_amd64/terraform-provider-widget"), "one")
	tree := readTree(t, dir)
	must.Len(t, tree.Compare(lockOf("2.0.0"), store.CompareOptions{Shared: true}), 0)
	skip := linuxPackages
	skip.Skip = map[getproviders.Provider]bool{provider("acme/widget"): true}
	found := tree.Compare(lockOf("2.0.0"), skip)
	must.Len(t, found, 1)
	must.Equal(t, found[0].Finding, store.NotLocked)
}

func TestReadTrees_EndWithTheContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, widget+"/1.0.0/linux_amd64/terraform-provider-widget"), "one")
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Fail(t, must.ErrorOf(store.ReadTrees(ctx, []string{dir}, unobserved)), cachetest.ErrStopped)
	must.Fail(t, must.Get(store.ReadTrees(t.Context(), []string{filepath.Join(dir, "nowhere")}, unobserved))(t)[0].Err, os.ErrNotExist)
}
