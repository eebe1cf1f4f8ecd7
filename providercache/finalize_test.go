package providercache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// imagePlace is a directory that only root can write to, as in the build of an image.
func imagePlace(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can make what is root's alone")
	}
	above, err := os.MkdirTemp("/var/lib", "tfdeps-test-")
	if err != nil {
		t.Skipf("no place for it: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(above) })
	if !receipt.RootsWithParents(above) {
		t.Skipf("%s is not root's alone", filepath.Dir(above))
	}
	return above
}

// sealedAt fills and seals a cache below base, and returns it with what is in
// base: modes, times, contents.
func sealedAt(t *testing.T, base string, mode fs.FileMode) (*store.Store, map[string]string) {
	t.Helper()
	cache := must.Get(store.OpenCache(filepath.Join(base, "providers", "v1"), false))(t)
	dir := filepath.Join(cache.Dir, filepath.FromSlash(receipttest.Name))
	cachetest.WriteTo(t, filepath.Join(dir, cachetest.WidgetFile), "the provider")
	must.Succeed(t, errors.Join(os.Chmod(filepath.Join(dir, cachetest.WidgetFile), mode), os.Chmod(cache.Dir, 0o700)))
	unlock := must.Get(store.LockPackage(t.Context(), cache, receipttest.Name))(t)
	unlock()
	h1 := must.Get(treehash.Dir(t.Context(), dir))(t)
	p, _ := store.ParseName(receipttest.Name)
	filled := Prefetched{Outcome: Outcome{Selection: getproviders.Selection{Provider: p.Provider, Version: p.Version}, Platform: p.Platform}, provenance: receipt.Provenance{H1: h1}}
	receipts, err := (&Installer{Cache: cache}).Finalize(t.Context(), []Prefetched{filled}, base, time.Unix(1e9, 5))
	if err != nil || !receipts {
		t.Fatalf("sealed: %t, %v", receipts, err)
	}
	content := map[string]string{}
	must.Succeed(t, filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		info, infoErr := os.Lstat(path)
		must.Succeed(t, errors.Join(err, infoErr))
		name, err := filepath.Rel(base, path)
		content[name] = info.Mode().String() + " " + info.ModTime().UTC().String()
		if !info.IsDir() {
			content[name] += cachetest.ContentOf(t, path)
		}
		return err
	}))
	return cache, content
}

func TestFinalize_MakesTheSameCacheEachTime(t *testing.T) {
	t.Parallel()
	place := imagePlace(t)
	_, first := sealedAt(t, filepath.Join(place, "first"), 0o700)
	time.Sleep(20 * time.Millisecond)
	_, second := sealedAt(t, filepath.Join(place, "second"), 0o755)
	for name, content := range first {
		must.Equal(t, second[name], content)
	}
	must.Equal(t, len(first), len(second))
	must.Len(t, first, 11)
}

func TestFinalize_WritesReceiptsThatCount(t *testing.T) {
	t.Parallel()
	cache, _ := sealedAt(t, filepath.Join(imagePlace(t), "base"), 0o755)
	at := store.ViewCache(cache, "", time.Now, false)
	if known, condition := at.Condition(receipttest.Name); known || condition != store.ConditionUnknown {
		t.Errorf("for root, who can write to it, it is %s", condition)
	}
	at.System = receipt.ImageReceipts(cache.Dir, func(string) bool { return false })
	if known, condition := at.Condition(receipttest.Name); !known || condition != store.ConditionComplete {
		t.Errorf("for others it is %s", condition)
	}
}
