package fetch

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// otherTree is a different content than someTree.
var otherTree = files{"main.tf": "# other\n"}

func TestStore_UnchangedArchiveCostsNoBody(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	s.zip(t, "/net.zip", `"1"`)
	for range 2 {
		brings(t, s.fetcher(t, store), s.net, "")
	}
	log := s.Log()
	if len(log) != 2 || log[0].Header.Get("If-None-Match") != "" || log[1].Header.Get("If-None-Match") != `"1"` {
		t.Errorf("requests: %+v", log)
	}
	s.file("/net.zip", zipped(t, otherTree), `"2"`)
	sameTree(t, fetched(t, s.fetcher(t, store), get(s.net)), below(otherTree, ""))
}

func TestStore_TimeOfChangeIsAskedForIfItIsLongAgo(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	for name, c := range map[string]struct {
		changed time.Time
		sent    bool
	}{"long ago": {now.Add(-time.Hour), true}, "just now": {now.Add(-time.Second), false}} {
		s := newSite(t)
		store := t.TempDir()
		changed := c.changed.Format(http.TimeFormat)
		s.pages["/net.zip"] = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Last-Modified", changed)
			if r.Header.Get("If-Modified-Since") == changed {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = w.Write(zipped(t, someTree))
		}
		for range 2 {
			brings(t, s.fetcher(t, store), s.net, "")
		}
		must.Equal(t, s.Log()[1].Header.Get("If-Modified-Since") != "", c.sent, "asked on that condition", name)
	}
}

// A server's response for one location isn't used for another one.
func TestStore_ValidatorsAreThoseOfOnePlace(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	s.zip(t, "/v1.zip", `"same"`)
	s.file("/v2.zip", zipped(t, otherTree), `"same"`)
	s.pages["/latest.zip"] = http.RedirectHandler("/v1.zip?sig=1", http.StatusFound).ServeHTTP
	brings(t, s.fetcher(t, store), s.BaseURL()+"/latest.zip", "")
	s.pages["/latest.zip"] = http.RedirectHandler("/v1.zip?sig=2", http.StatusFound).ServeHTTP
	brings(t, s.fetcher(t, store), s.BaseURL()+"/latest.zip", "")
	must.Equal(t, len(s.Log()), 4, "requests")
	s.pages["/latest.zip"] = http.RedirectHandler("/v2.zip", http.StatusFound).ServeHTTP
	sameTree(t, fetched(t, s.fetcher(t, store), get(s.BaseURL()+"/latest.zip")), below(otherTree, ""))
}

func TestStore_PinnedPackageIsNotAskedFor(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	s.hop("/page", "./net.zip//docs")
	for _, c := range []struct{ pkg, dir string }{{"/net.zip", ""}, {"/page", "docs"}, {"/net.zip?archive=zip&checksum=" + sumOf(zipped(t, someTree)), ""}} {
		req := modules.FetchRequest{Package: s.BaseURL() + c.pkg, Pin: "net 1.0.0"}
		sameTree(t, fetched(t, s.fetcher(t, store), req), below(someTree, c.dir))
		before := len(s.Log())
		sameTree(t, fetched(t, s.fetcher(t, store), req), below(someTree, c.dir))
		offline := s.fetcher(t, store)
		offline.Offline = true
		sameTree(t, fetched(t, offline, req), below(someTree, c.dir))
		must.Len(t, s.asked(before), 0, "requests", c.pkg)
		req.Pin = "net 1.0.1"
		fetched(t, s.fetcher(t, store), req)
		if got := s.asked(before); len(got) == 0 {
			t.Errorf("%s: another pin has the same package", c.pkg)
		}
	}
}

func TestStore_DamagedStoreIsMended(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	s.zip(t, "/net.zip", `"1"`)
	s.hop("/page", "./net.zip")
	req := modules.FetchRequest{Package: s.BaseURL() + "/page", Pin: "net 1.0.0"}
	for name, damage := range map[string]func(path string) error{
		"changed": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
		"cut":     func(path string) error { return os.Truncate(path, 3) },
		"removed": os.Remove,
	} {
		fetched(t, s.fetcher(t, store), req)
		for _, dir := range []string{archivesDir, answersDir, pinsDir} {
			for file := range peertest.Tree(t, filepath.Join(store, dir)) {
				must.Succeed(t, damage(filepath.Join(store, dir, file)))
			}
			t.Run(name+" "+dir, func(t *testing.T) {
				sameTree(t, fetched(t, s.fetcher(t, store), req), below(someTree, ""))
				brings(t, s.fetcher(t, store), req.Package, "")
			})
		}
	}
}

func TestStore_IsTheUsersAlone(t *testing.T) {
	s := parallelSite(t)
	store := filepath.Join(t.TempDir(), "modules/v1")
	s.zip(t, "/net.zip", `"1"`)
	s.hop("/page", strings.Replace(s.BaseURL(), "https://", "https://me:hunter2@", 1)+"/net.zip?sig=hunter2")
	fetched(t, s.fetcher(t, store), modules.FetchRequest{Package: s.BaseURL() + "/page?token=hunter2", Pin: "net 1.0.0"})
	must.Succeed(t, filepath.Walk(store, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if info.Mode().IsRegular() {
			if content, err := os.ReadFile(path); err != nil || strings.Contains(string(content), "hunter2") {
				t.Errorf("%s: %q, %v", path, content, err)
			}
		}
		return nil
	}))
}

func TestStore_ThatCantBeWritten(t *testing.T) {
	s := parallelSite(t)
	store := filepath.Join(t.TempDir(), "file")
	must.Write(t, store, "")
	brings(t, s.fetcher(t, store), s.net, "")
}

func TestStore_WhatKilledRunsLeftIsSwept(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	fetched(t, s.fetcher(t, store), get(s.net))
	left, busy := filepath.Join(store, archivesDir, partialPrefix+"1"), filepath.Join(store, archivesDir, partialPrefix+"2")
	for _, path := range []string{left, busy} {
		must.Write(t, path, "")
	}
	old := time.Now().Add(-25 * time.Hour)
	must.Succeed(t, os.Chtimes(left, old, old))
	fetched(t, s.fetcher(t, store), get(s.net))
	if got := peertest.Tree(t, filepath.Join(store, archivesDir)); len(got) != 2 || got[partialPrefix+"2"] != "" {
		t.Errorf("the store has %q", got)
	}
	must.Get(os.Stat(busy))(t)
}

func TestStore_OfflineUsesWhatIsThere(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	s.hop("/page", "./net.zip")
	fetched(t, s.fetcher(t, store), get(s.net))
	before := len(s.Log())
	f := s.fetcher(t, store)
	f.Offline = true
	brings(t, f, s.net, "")
	for _, pkg := range []string{
		s.BaseURL() + "/other.zip", s.BaseURL() + "/page", "git::" + s.BaseURL() + "/net.git", "hg::" + s.BaseURL() + "/net",
		"s3::" + s.BaseURL() + "/bucket/net.zip", "gcs::https://www.googleapis.com/storage/v1/b/net.zip",
		s.BaseURL() + "/net.zip?checksum=file:" + s.BaseURL() + "/SUMS",
	} {
		err := refused(t, f, pkg)
		if e := getproviders.FaultOf(err, ErrOffline); e == nil || !strings.Contains(e.Hint, "-offline") {
			t.Errorf("%s: %v", pkg, err)
		}
	}
	must.Len(t, s.asked(before), 0, "requests")
}

func TestStore_OneStoreForManyFetchers(t *testing.T) {
	s := parallelSite(t)
	store := t.TempDir()
	s.zip(t, "/net.zip", `"1"`)
	var runs sync.WaitGroup
	for range 8 {
		dst := filepath.Join(t.TempDir(), "module")
		runs.Go(func() {
			f := &Fetcher{Client: s.Client(), Store: store}
			defer f.Close()
			if _, err := f.Fetch(t.Context(), modules.FetchRequest{Package: s.net, Pin: "net 1"}, dst); err != nil {
				t.Error(err)
				return
			}
			sameTree(t, peertest.Tree(t, dst), below(someTree, ""))
		})
	}
	runs.Wait()
	must.Len(t, peertest.Tree(t, filepath.Join(store, archivesDir)), 1, "the store archives")
}

func TestStore_NothingTemporaryIsLeft(t *testing.T) {
	s := parallelSite(t)
	f := &Fetcher{Client: s.Client()}
	fetched(t, f, get(s.net))
	w := must.Get(f.prepared.Do(t.Context(), struct{}{}, f.prepare))(t)
	must.Succeed(t, f.Close())
	must.Refuse(os.Stat(w.dir.Path))(t, "the temporary directory is still there")
	must.Succeed(t, new(Fetcher).Close())
}

func FuzzPinnedRecord(f *testing.F) {
	f.Add([]byte(`{"sha256":"`+someSHA256+`","location":"https://h/n.zip","subdir":"a"}`), "https://h/net")
	f.Add([]byte(`{"commit":"x","location":"git::file:///etc"}`), "git::https://h/net.git")
	f.Fuzz(func(t *testing.T, record []byte, pkg string) {
		s := openStore(t.TempDir())
		req := modules.FetchRequest{Package: pkg, Pin: "p"}
		must.Write(t, s.at(pinsDir, nameOf(pinKey(req))), record)
		at, ok := s.recall(t.Context(), req)
		if ok && at.isPage() {
			t.Errorf("%s: %+v", record, at)
		}
		if ok && at.hopped && slices.Contains([]string{"file"}, at.kind) {
			t.Errorf("a record leads to files: %s", record)
		}
	})
}
