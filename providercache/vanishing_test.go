package providercache_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// TestInstall_DirectoriesVanishWhileItRuns removes a directory at the first event of an installation, in another run at
// the second, and so on. The run may fail, with an error about a file, and the next one installs everything.
func TestInstall_DirectoriesVanishWhileItRuns(t *testing.T) {
	needsReceipts(t)
	source := newSource(t)
	all := require("acme/widget", "", "acme/gadget", "")
	for p := range all {
		address := "acme/" + p.Type
		source.AddZip(t, address, "1.0.0", zipOf(t, map[string]string{"terraform-provider-" + p.Type: "the provider", "LICENSE": "free"}))
		source.From(address, "1.0.0", "the test")
	}
	sound := newInstaller(t, source)
	install(t, sound, all, nil)
	want := treeOf(t, sound.Target.Dir)
	for _, removed := range []string{"target", "cache", "state", "*/.tfdeps-*"} {
		for _, mode := range peertest.FirstIfShort(1, providercache.LinkCopy, providercache.LinkAuto) {
			t.Run(removed+" "+mode.String(), func(t *testing.T) {
				t.Parallel()
				for n, more := 1, true; more; n += peertest.Stride(10) {
					dir := t.TempDir()
					in := newInstaller(t, source)
					in.Target, in.Cache = storeIn(dir, "target"), storeIn(dir, "cache")
					in.Link, in.Fetcher.StateDir = mode, filepath.Join(dir, "state")
					left := n // events don't overlap
					in.Fetcher.Observe = func(context.Context, event.Event) {
						if left--; left == 0 {
							found, _ := filepath.Glob(filepath.Join(dir, removed))
							for _, path := range found {
								_ = os.RemoveAll(path) // an installation goes on meanwhile, so that it may be there again
							}
						}
					}
					err := attempt(t, in, all, nil)
					more = left <= 0
					if err != nil && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "directory not empty") && !errors.Is(err, receipt.ErrIncomplete) {
						t.Errorf("%d: %v", n, err)
					}
					in.Fetcher.Observe = nil
					install(t, in, all, nil)
					must.Equal(t, treeOf(t, in.Target.Dir), want, n)
					found := must.Get((&providercache.Fetcher{StateDir: in.Fetcher.StateDir}).Maintain(in.Cache).Verify(t.Context(), nil))(t)
					must.Equal(t, slices.ContainsFunc(found, providercache.Verified.Differs), false, n)
					noStages(t, in.Target.Dir, in.Cache.Dir)
				}
			})
		}
	}
}
