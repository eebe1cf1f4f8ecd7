package providercache_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// newResumable is newBreakable with a cache, and the path at which the archive's part is going to
// be.
func newResumable(tb testing.TB) (registry *providertest.Registry, in *providercache.Installer, archive []byte, partial string) {
	tb.Helper()
	registry, in, archive = newBreakable(tb)
	in.Cache = storeIn(tb.TempDir(), "cache")
	return registry, in, archive, filepath.Join(in.Cache.Dir, "partial", fmt.Sprintf("%x", sha256.Sum256(archive)))
}

// putPart writes a file that only this user may read, as parts of archives are.
func putPart(t *testing.T, path string, content []byte) {
	t.Helper()
	succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
	succeed(t, os.WriteFile(path, content, 0o600))
}

// breakOff makes an installation fail after that many bytes of the archive.
func breakOff(tb testing.TB, registry *providertest.Registry, in *providercache.Installer, after int64) {
	tb.Helper()
	registry.Break("archive", fault{Status: 404})
	registry.Break("archive", fault{CutAfter: after, Times: 1})
	must.Fail(tb, attempt(tb, in, hosted, nil), getproviders.ErrUnreachable)
	registry.Break("archive", fault{})
}

func TestResume_WhatIsLeftMayBeAnything(t *testing.T) {
	t.Parallel()
	_, _, archive := newBreakable(t) // as each registry has it
	for name, c := range map[string]struct {
		left  []byte
		fault fault
		asked string // SIZE is the size of the archive
	}{
		"all of it":              {left: archive},
		"nothing":                {asked: "all"},
		"a byte":                 {left: archive[:1], asked: "1-"},
		"too much":               {left: slices.Concat(archive, make([]byte, 9*len(archive))), asked: "SIZE0- all"},
		"something else":         {left: make([]byte, 1000), asked: "1000- all"},
		"something of that size": {left: make([]byte, len(archive)), asked: "SIZE- all"},
		"a part, and no ranges": {
			left: archive[:1000], asked: "1000-", fault: fault{NoRange: true},
		},
		"a part, and a cut": {
			left: archive[:1000], asked: "1000- 1500-", fault: fault{CutAfter: 500, Times: 1},
		},
		"something else, and a cut": {
			left: make([]byte, 1000), asked: "1000- 1500- all", fault: fault{CutAfter: 500, Times: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, in, _, partial := newResumable(t)
			putPart(t, partial, c.left)
			registry.Break("archive", c.fault)
			locks, _ := install(t, in, hosted, nil)
			want := strings.ReplaceAll(c.asked, "SIZE", fmt.Sprint(len(archive)))
			must.Equal(t, ranges(registry.Server), want)
			lock, _ := locks.Provider(provider(widgetAddress))
			must.Equal(t, lock.Hashes[len(lock.Hashes)-1], getproviders.ZH(sha256.Sum256(archive)))
			must.Fail(t, must.ErrorOf(os.Lstat(partial)), os.ErrNotExist)
		})
	}
}

// TestResume_WhatOthersCouldChangeIsNotResumed puts files at the
// path of the partial file that must not be used, and that stay.
func TestResume_WhatOthersCouldChangeIsNotResumed(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(t *testing.T, partial string){
		"others may write": func(t *testing.T, partial string) {
			putPart(t, partial, []byte("x"))
			succeed(t, cachetest.OpenToAll(partial))
		},
		"a link": func(t *testing.T, partial string) {
			target := filepath.Join(t.TempDir(), "target")
			putPart(t, target, []byte("x"))
			succeed(t, os.Symlink(target, partial))
		},
		"a second name": func(t *testing.T, partial string) {
			putPart(t, partial, []byte("x"))
			succeed(t, os.Link(partial, partial+".2"))
		},
		"a directory": func(t *testing.T, partial string) { succeed(t, os.Mkdir(partial, 0o700)) },
		"no place": func(t *testing.T, partial string) {
			succeed(t, os.Remove(filepath.Dir(partial)))
			putPart(t, filepath.Dir(partial), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, in, _, partial := newResumable(t)
			succeed(t, os.MkdirAll(filepath.Dir(partial), 0o755))
			put(t, partial)
			before := tree(t, filepath.Dir(partial))
			install(t, in, hosted, nil)
			must.Equal(t, ranges(registry.Server), "all")
			must.Equal(t, fmt.Sprint(tree(t, filepath.Dir(partial))), fmt.Sprint(before))
		})
	}
}

func TestResume_WhatIsLeftIsRemovedAfterADay(t *testing.T) {
	t.Parallel()
	registry, in, _, partial := newResumable(t)
	old, young, foreign := filepath.Join(filepath.Dir(partial), fmt.Sprintf("%064x", 1)), filepath.Join(filepath.Dir(partial), fmt.Sprintf("%064x", 2)), filepath.Join(filepath.Dir(partial), "notes")
	yesterday := time.Now().Add(-25 * time.Hour)
	for _, path := range []string{old, young, foreign, partial} {
		putPart(t, path, []byte("x"))
		if path != young {
			succeed(t, os.Chtimes(path, yesterday, yesterday))
		}
	}
	install(t, in, hosted, nil)
	must.Equal(t, ranges(registry.Server), "all")
	must.Equal(t, fmt.Sprint(tree(t, filepath.Dir(partial))), fmt.Sprint([]string{filepath.Base(young), "notes"}))
}

// TestResume_KeepsNothingOfAnUnknownArchive: nothing is kept without a cache, without a checksum,
// or where the disk and not the network is the cause.
func TestResume_KeepsNothingOfAnUnknownArchive(t *testing.T) {
	t.Parallel()
	t.Run("no cache", func(t *testing.T) {
		t.Parallel()
		registry, in, _, _ := newResumable(t)
		in.Cache = nil
		breakOff(t, registry, in, 1000)
		nothingLeft(t, in)
	})
	t.Run("no checksum", func(t *testing.T) {
		t.Parallel()
		registry, in, _, _ := newResumable(t)
		source := newSource(t)
		source.Add("acme/widget", "1.0.0", httpArchive(t, registry.BaseURL()+"/files/acme/widget/1.0.0/terraform-provider-widget_1.0.0_linux_amd64.zip"))
		in.Fetcher.Source = source
		registry.Break("archive", fault{Status: 404})
		registry.Break("archive", fault{CutAfter: 1000, Times: 1})
		must.Fail(t, attempt(t, in, widgets, nil), getproviders.ErrUnreachable)
		if left := files(t, in.Cache.Dir); len(left) > 1 { // only the package's file lock
			t.Errorf("there is %q", left)
		}
	})
	t.Run("wrong bytes", func(t *testing.T) {
		t.Parallel()
		registry, in, _, partial := newResumable(t)
		registry.Break("archive", fault{Body: func(b []byte) []byte { return b[:len(b)-1] }})
		must.Fail(t, attempt(t, in, hosted, nil), getproviders.ErrAuthentication)
		must.Fail(t, must.ErrorOf(os.Lstat(partial)), os.ErrNotExist)
	})
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		_, in, _, partial := newResumable(t)
		in.Fetcher.Limits.PackageBytes = 100_000
		putPart(t, partial, make([]byte, 100_001))
		must.Refuse(attempt(t, in, hosted, nil))(t)
		must.Fail(t, must.ErrorOf(os.Lstat(partial)), os.ErrNotExist)
	})
}

// TestResume_AnArchiveWaitsForItsDocuments: the archive is complete and stays, although its list
// of checksums can't be loaded.
func TestResume_AnArchiveWaitsForItsDocuments(t *testing.T) {
	t.Parallel()
	registry, in, archive, partial := newResumable(t)
	registry.Break("sums", fault{Status: 500})
	source := registrySource(registry)
	source.Client = &http.Client{Transport: storagetest.RoundTrip(func(req *http.Request) (*http.Response, error) {
		for strings.Contains(req.URL.Path, "SHA256SUMS") && req.Context().Err() == nil {
			if info, err := os.Lstat(partial); err == nil && info.Size() == int64(len(archive)) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		return registry.Client().Transport.RoundTrip(req)
	})}
	in.Fetcher.Source = source
	err := attempt(t, in, hosted, nil)
	if info, statErr := os.Lstat(partial); err == nil || statErr != nil || info.Size() != int64(len(archive)) {
		t.Fatalf("got %v, %v, %v", err, info, statErr)
	}
	registry.Break("sums", fault{})
	install(t, in, hosted, nil)
	must.Equal(t, ranges(registry.Server), "all")
}

// brokenDownloads are ways in which a download ends that can't be resumed in the same run, because
// the archive is gone then.
var brokenDownloads = map[string]struct{ stall, noRange bool }{
	"cut": {}, "stalled": {stall: true}, "cut, no Range": {noRange: true}, "stall, no Range": {true, true},
}

// Wherever and however a download ends, the next run succeeds, nothing is left behind, and the
// cache is in order. Where parts of an archive can be requested, no byte is sent twice.
func TestInstall_SucceedsAfterABrokenDownload(t *testing.T) {
	t.Parallel()
	places := peertest.Rounds(3, 10)
	for name, c := range brokenDownloads {
		for i := range places {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				registry, in, archive, partial := newResumable(t)
				patience := time.Minute // a busy machine would look like a stall
				if c.stall {
					patience = 500 * time.Millisecond
				}
				in.Fetcher.Client = impatientFor(t, registry.Client().Transport, patience)
				in.Fetcher.StateDir = filepath.Join(t.TempDir(), "state")
				after := 1 + i*(len(archive)-2)/(places-1)
				breakArchive(registry, fault{Stall: c.stall, NoRange: c.noRange, CutAfter: int64(after), Times: 1}, fault{Status: 404})
				before := registry.Sent()
				must.Fail(t, attempt(t, in, hosted, nil), getproviders.ErrUnreachable)
				info := must.Get(os.Lstat(partial))(t)
				must.Equal(t, info.Size(), int64(after))
				must.Equal(t, info.Mode() == 0o600 || runtime.GOOS == "windows", true, "others may read it")
				registry.Break("archive", fault{NoRange: c.noRange}) // as long as the test lasts
				in.Fetcher.Client = registry.Client()
				var progress []event.Event
				in.Fetcher.Observe = func(_ context.Context, e event.Event) {
					if e.Kind == event.Progress {
						progress = append(progress, e)
					}
				}
				in.Fetcher = installtest.Again(in.Fetcher)
				install(t, in, hosted, nil)
				if asked := ranges(registry.Server); !strings.HasSuffix(asked, fmt.Sprintf(" %d-", after)) {
					t.Errorf("asked for %s, of which %d bytes were there", asked, after)
				}
				if last := progress[len(progress)-1]; !c.noRange && progress[0].Done != int64(after) || last.Done != int64(len(archive)) || last.Total != last.Done {
					t.Errorf("progress begins with %+v and ends with %+v", progress[0], last)
				}
				most := len(archive) * 21 / 20
				if c.noRange {
					most += len(archive)
				}
				if sent := int(registry.Sent() - before); sent > most {
					t.Errorf("%d bytes were sent for an archive of %d that broke off after %d", sent, len(archive), after)
				}
				isSound(t, in.Cache.Dir, in.Fetcher.StateDir, 1)
				noStages(t, in.Target.Dir)
				must.NotContain(t, tree(t, in.Cache.Dir), "partial")
			})
		}
	}
}
