package providercache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// TestInstall_DirectoriesVanishWhileItRuns removes a directory at the first event of an installation, in another run at
// the second, and so on. The run may fail, with an error about a file, and the next one has everything.
func TestInstall_DirectoriesVanishWhileItRuns(t *testing.T) {
	needsReceipts(t)
	if runtime.GOOS == "windows" {
		t.Skip("files that are open can't be removed here")
	}
	source := newSource(t)
	for _, address := range []string{"acme/widget", "acme/gadget"} {
		_, name, _ := strings.Cut(address, "/")
		source.AddZip(t, address, "1.0.0", zipOf(t, map[string]string{"terraform-provider-" + name: "the provider", "LICENSE": "free"}))
		source.From(address, "1.0.0", "the test")
	}
	all := require("acme/widget", "", "acme/gadget", "")
	// An installation goes on meanwhile, so that what is removed may be there again.
	removals := map[string]func(in *providercache.Installer){
		"target": func(in *providercache.Installer) { _ = os.RemoveAll(in.Target.Dir) },
		"cache":  func(in *providercache.Installer) { _ = os.RemoveAll(in.Cache.Dir) },
		"state":  func(in *providercache.Installer) { _ = os.RemoveAll(in.Fetcher.StateDir) },
		"stages": func(in *providercache.Installer) {
			for _, dir := range []string{in.Target.Dir, in.Cache.Dir} {
				stages := must.Get(filepath.Glob(filepath.Join(dir, ".tfdeps-*")))(t)
				for _, stage := range stages {
					_ = os.RemoveAll(stage)
				}
			}
		},
	}
	for name, remove := range removals {
		for _, mode := range peertest.FirstIfShort(1, providercache.LinkCopy, providercache.LinkAuto) {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				t.Parallel()
				stride := 1
				if testing.Short() {
					stride = 10
				}
				for n, more := 1, true; more; n += stride {
					dir := t.TempDir()
					in := newInstaller(t, source)
					in.Target, in.Cache = &providercache.Store{Dir: filepath.Join(dir, "target")}, &providercache.Store{Dir: filepath.Join(dir, "cache")}
					in.Link, in.Fetcher.StateDir = mode, filepath.Join(dir, "state")
					var mu sync.Mutex
					left := n
					in.Fetcher.Observe = func(context.Context, event.Event) {
						mu.Lock()
						defer mu.Unlock()
						if left--; left == 0 {
							remove(in)
						}
					}
					err := attempt(t, in, all, nil)
					more = left <= 0
					if err != nil && !strings.Contains(err.Error(), "no such file or directory") && !strings.Contains(err.Error(), "directory not empty") && !errors.Is(err, receipt.ErrIncomplete) {
						t.Errorf("%d: %v", n, err)
					}
					in.Fetcher.Observe = nil
					install(t, in, all, nil)
					for _, address := range []string{"acme/widget", "acme/gadget"} {
						_, name, _ := strings.Cut(address, "/")
						at := filepath.Join(in.Target.Dir, packageDir(address, "1.0.0"))
						must.Equal(t, read(t, filepath.Join(at, "terraform-provider-"+name))+read(t, filepath.Join(at, "LICENSE")), "the providerfree")
					}
					found, err := (&providercache.Fetcher{StateDir: in.Fetcher.StateDir}).Maintain(in.Cache).Verify(t.Context(), nil)
					if err != nil || slices.ContainsFunc(found, func(v providercache.Verified) bool { return v.Differs() }) {
						t.Errorf("%d: the cache has %+v, %v", n, found, err)
					}
					for _, root := range []string{in.Target.Dir, in.Cache.Dir} {
						must.Equal(t, stagingDirs(tree(t, root)), 0)
					}
				}
			})
		}
	}
}
