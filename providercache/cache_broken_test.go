package providercache_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// brokenDownloads are ways in which a download ends that can't be resumed in the same run, because
// the archive is gone then.
var brokenDownloads = map[string]struct {
	fault, later providertest.Fault // later faults last as long as the test
	most         float64            // how many bytes of an archive are sent in all
}{
	"cut":             {providertest.Fault{}, providertest.Fault{}, 1.05},
	"stalled":         {providertest.Fault{Stall: true}, providertest.Fault{}, 1.05},
	"cut, no Range":   {providertest.Fault{NoRange: true}, providertest.Fault{NoRange: true}, 2.05},
	"stall, no Range": {providertest.Fault{Stall: true, NoRange: true}, providertest.Fault{NoRange: true}, 2.05},
}

// Wherever and however a download ends, the next run succeeds, nothing is left behind, and the
// cache is in order. Where parts of an archive can be requested, no byte is sent twice.
func TestInstall_SucceedsAfterABrokenDownload(t *testing.T) {
	t.Parallel()
	places := 10
	if testing.Short() {
		places = 2
	}
	for name, c := range brokenDownloads {
		for i := range places {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				registry, in, archive, _ := newResumable(t)
				patience := time.Minute // a busy machine would look like a stall
				if c.fault.Stall {
					patience = 500 * time.Millisecond
				}
				in.Fetcher.Client = impatientFor(t, registry.Client().Transport, patience)
				in.Fetcher.StateDir = filepath.Join(t.TempDir(), "state")
				fault := c.fault
				fault.CutAfter, fault.Times = int64(1+i*(len(archive)-2)/(places-1)), 1
				breakArchive(registry, fault, providertest.Fault{Status: 404})
				before := registry.Sent()
				if err := attempt(t, in, hosted, nil); !errors.Is(err, getproviders.ErrUnreachable) {
					t.Fatal(err)
				}
				registry.Break("archive", c.later)
				next := &providercache.Installer{
					Fetcher: &providercache.Fetcher{Source: in.Fetcher.Source, Client: registry.Client(), Platform: linux, Product: product, StateDir: in.Fetcher.StateDir},
					Target:  in.Target, Cache: in.Cache,
				}
				install(t, next, hosted, nil)
				if sent := registry.Sent() - before; float64(sent) > c.most*float64(len(archive)) {
					t.Errorf("%d bytes were sent for an archive of %d that broke off after %d", sent, len(archive), fault.CutAfter)
				}
				isSound(t, in.Cache.Dir, in.Fetcher.StateDir, 1)
				for _, root := range []string{in.Cache.Dir, in.Target.Dir} {
					if left := tree(t, root); stagingDirs(left) > 0 || slices.Contains(left, "partial") {
						t.Errorf("there is %q", left)
					}
				}
			})
		}
	}
}
