package mirrorserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// collect is the result of a Collect: the removed and the remaining archives, and the total size.
func (r *running) collect(o mirrorserver.CollectOptions) (removed, left []mirrorserver.StoredPackage, bytes int64) {
	r.tb.Helper()
	removed, left, err := r.Collect(r.tb.Context(), o)
	must.Succeed(r.tb, err)
	for _, p := range slices.Concat(removed, left) {
		bytes += p.Bytes
	}
	return removed, left, bytes
}

// TestServer_CollectRemovesWhatIsntUsed: of four archives, those are removed
// first that no server of the bucket has sent for the longest time.
func TestServer_CollectRemovesWhatIsntUsed(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	root := t.TempDir()
	m.bucket = blob.NewDirectory(root)
	one := m.start()
	second := m.start()
	path := func(i int) string { return archiveOf(fmt.Sprint("p", i)) }
	for i := range 4 {
		m.add(fmt.Sprint("p", i), "1.0.0")
		one.found(path(i))
		one.settle()
	}
	old := m.clock.Now()
	must.Succeed(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			err = os.Chtimes(path, old, old)
		}
		return err
	}))
	for i := range 3 {
		m.clock.pass(5 * time.Hour)
		second.found(path(i)) // used through another server
	}
	// The last one is used through both in the same hour.
	one.found(path(2))
	await(t, func() bool { return len(m.keys("uses/")) == 3 }) // no client waits for the marks
	left := func() string {
		var names []string
		for _, key := range m.keys(".zip") {
			if strings.HasPrefix(key, "providers/") {
				names = append(names, strings.Split(key, "/")[3])
			}
		}
		return strings.Join(names, " ")
	}
	collectTo := func(limit int64, keep func(getproviders.Provider, getproviders.Version, []getproviders.Hash) bool, want string) (bytes int64) {
		t.Helper()
		removed, kept, bytes := one.collect(mirrorserver.CollectOptions{MaxBytes: limit, Keep: keep})
		must.Equal(t, left(), want, limit)
		must.Len(t, kept, len(strings.Fields(want)), removed)
		return bytes
	}
	bytes := collectTo(1<<40, nil, "p0 p1 p2 p3")
	must.Equal(t, bytes > 80_000, true)
	collectTo(bytes-1, nil, "p0 p1 p2") // p3 wasn't used since
	h1, _ := hashesOf(t, contentOf("p0", "1.0.0", linux))
	kept := func(p getproviders.Provider, v getproviders.Version, hashes []getproviders.Hash) bool {
		return p.Type == "p0" && v.String() == "1.0.0" && hashes[0] == h1
	}
	collectTo(1, kept, "p0 p2") // p2 was used lately
	m.clock.pass(4 * time.Hour)
	collectTo(1, kept, "p0")
	must.Equal(t, one.stat("removed_total"), 3)
	must.Equal(t, one.stat("removed_bytes_total") > 60_000, true)
	marks := m.keys("uses/")
	must.Len(t, marks, 1)
	must.Contain(t, marks[0], "/acme/p0/")
	one.found(path(2)) // is downloaded again
	one.settle()
	one.Close()
	must.Equal(t, one.stat("store_failures_total"), 0)
}

// TestServer_CollectLeavesWhatIsSent: an archive stays as long as a client takes it.
func TestServer_CollectLeavesWhatIsSent(t *testing.T) {
	m := newMirroring(t)
	m.add("large", "1.0.0")
	server := m.start()
	server.found(large)
	server.settle()
	gate, feed := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, large, nil)
		must.Equal(t, err, nil)
		server.ServeHTTP(&pipedResponse{header: http.Header{}, to: feed}, req)
		feed.Close()
	}()
	must.Get(io.ReadFull(gate, make([]byte, 1000)))(t)
	m.clock.pass(24 * 365 * time.Hour)
	_, left, _ := server.collect(mirrorserver.CollectOptions{MaxBytes: 1})
	must.Len(t, left, 1)
	must.Get(io.Copy(io.Discard, gate))(t)
	<-done
	removed, _, _ := server.collect(mirrorserver.CollectOptions{MaxBytes: 1})
	must.Len(t, removed, 1)
}

// pipedResponse is a client that reads only as far as a test lets it.
type pipedResponse struct {
	header http.Header
	to     io.Writer
}

func (p *pipedResponse) Header() http.Header         { return p.header }
func (p *pipedResponse) WriteHeader(int)             {}
func (p *pipedResponse) Write(b []byte) (int, error) { return p.to.Write(b) }

// TestServer_CloseKeepsWhatWasSent: a server that ends right after it has sent an archive has stored it, and has noted its use.
func TestServer_CloseKeepsWhatWasSent(t *testing.T) {
	for part, stored := range map[string]bool{"/archives/": false, "uses/": true} {
		t.Run(part, func(t *testing.T) {
			m := newMirroring(t)
			m.opts.MarkUses = true
			m.add("large", "1.0.0")
			if stored {
				first := m.start()
				first.found(archive)
				first.settle()
			}
			m.registry.Break("archive", providertest.Fault{Stall: true, CutAfter: 100, Path: "large"})
			held := holding(m.bucket, part)
			m.bucket = held
			server := m.start()
			server.found(archive)
			<-held.begun
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				server.Close()
			}()
			server.get(large) // ends because the server is closed
			close(held.release)
			<-closed
			must.Len(t, m.keys(part), 1)
		})
	}
}

// heldBucket is a bucket that blocks writes of one kind of objects until it is released.
type heldBucket struct {
	installtest.Hooked
	begun   chan struct{} // gets a value when one is to be written
	release chan struct{} // closed: all are written
}

func holding(b blob.Bucket, part string) *heldBucket {
	h := &heldBucket{installtest.Hooked{Bucket: b}, make(chan struct{}, 100), make(chan struct{})}
	h.Before = func(ctx context.Context, c installtest.Call) error {
		if c.Op == "put" && strings.Contains(c.Key, part) {
			h.begun <- struct{}{}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-h.release:
			}
		}
		return nil
	}
	return h
}

// TestServer_CollectsBesideOthers: servers that collect at the same time remove what one alone would.
func TestServer_CollectsBesideOthers(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	one := m.start()
	two := m.start()
	for i := range 6 {
		m.add(fmt.Sprint("p", i), "1.0.0")
		one.found(archiveOf(fmt.Sprint("p", i)))
		one.settle()
	}
	_, all, bytes := one.collect(mirrorserver.CollectOptions{MaxBytes: 1 << 40})
	must.Len(t, all, 6)
	m.clock.pass(24 * 365 * time.Hour)
	var both sync.WaitGroup
	for _, server := range []*running{one, two} {
		both.Go(func() {
			must.Equal(t, must.ErrorOf(server.Collect(t.Context(), mirrorserver.CollectOptions{MaxBytes: bytes / 2})), nil)
		})
	}
	both.Wait()
	must.Len(t, m.keys(".zip"), 3)
	for i := range 6 {
		one.found(archiveOf(fmt.Sprint("p", i)))
	}
}

// TestServer_CollectsWhatIsUnused: an archive that nobody has requested in thirty
// days is removed, whatever all of them take; a dry run only reports it.
func TestServer_CollectsWhatIsUnused(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	m.clock.now = time.Now() // the bucket says when an archive was stored
	server := m.start()
	m.add("gadget", "1.0.0")
	for _, path := range []string{archive, archiveOf("gadget")} {
		server.found(path)
		server.settle()
	}
	m.clock.pass(20 * 24 * time.Hour)
	server.found(archive)
	await(t, func() bool { return len(m.keys("uses/")) == 1 })
	m.clock.pass(20 * 24 * time.Hour)
	for _, dry := range []bool{true, false} {
		removed, _, _ := server.collect(mirrorserver.CollectOptions{MaxUnused: 30 * 24 * time.Hour, DryRun: dry})
		must.Len(t, removed, 1)
		if removed[0].Provider.Type != "gadget" || removed[0].Bytes == 0 || removed[0].Used.IsZero() {
			t.Errorf("dry: %t: %+v", dry, removed)
		}
		must.Equal(t, len(m.keys(".zip"))-len(m.keys("uses/")), map[bool]int{true: 2, false: 1}[dry])
	}
	removed, left, _ := server.collect(mirrorserver.CollectOptions{})
	must.Len(t, removed, 0)
	must.Len(t, left, 1)
}

// TestServer_OneOfThemCollects: of the servers of a bucket one collects in an hour, and another one when that has died.
func TestServer_OneOfThemCollects(t *testing.T) {
	m := newMirroring(t)
	m.add("gadget", "1.0.0")
	one := m.start()
	two := m.start()
	one.found(archive)
	one.settle()
	m.clock.pass(24 * 365 * time.Hour)
	hourly := mirrorserver.CollectOptions{MaxBytes: 1 << 40, Every: time.Hour}
	collects := func(what string, server *running, want bool) {
		t.Helper()
		_, left, _ := server.collect(hourly)
		must.Equal(t, len(left) > 0, want, what)
	}
	collects("the first one", one, true)
	collects("the second one", two, false)
	m.clock.pass(time.Hour)
	collects("the second one, after an hour", two, true)
	collects("the first one, after an hour", one, false)
	removed, _, _ := one.collect(mirrorserver.CollectOptions{MaxBytes: 1})
	must.Len(t, removed, 1)
}
