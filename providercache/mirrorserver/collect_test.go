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
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// collected is what Collect has found and done.
type collected struct {
	Archives int
	Bytes    int64
	Removed  []mirrorserver.StoredPackage
}

func collect(t *testing.T, server *mirrorserver.Server, o mirrorserver.CollectOptions) (collected, error) {
	removed, left, err := server.Collect(t.Context(), o)
	found := collected{Archives: len(removed) + len(left), Removed: removed}
	for _, p := range slices.Concat(removed, left) {
		found.Bytes += p.Bytes
	}
	return found, err
}

// TestServer_CollectRemovesWhatIsntUsed: of four archives, those go first that no server of the bucket has sent for the
// longest time.
func TestServer_CollectRemovesWhatIsntUsed(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	root := t.TempDir()
	m.bucket = blob.NewDirectory(root)
	one, front := m.start(t)
	_, second := m.start(t)
	path := func(i int) string {
		return host + fmt.Sprintf("acme/p%d/terraform-provider-p%d_1.0.0_linux_amd64.zip", i, i)
	}
	for i := range 4 {
		m.add(fmt.Sprintf("p%d", i), "1.0.0")
		found(t, front, path(i))
		settle(t, one)
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
		found(t, second, path(i)) // used through another server
	}
	for len(keysIn(t, m.bucket, "uses/")) < 3 { // no client waits for the marks
		time.Sleep(time.Millisecond)
	}
	left := func() string {
		var names []string
		for _, key := range keysIn(t, m.bucket, ".zip") {
			if strings.HasPrefix(key, "providers/") {
				names = append(names, strings.Split(key, "/")[3])
			}
		}
		return strings.Join(names, " ")
	}
	collectTo := func(limit int64, keep func(getproviders.Provider, getproviders.Version, []getproviders.Hash) bool, want string) collected {
		t.Helper()
		got, err := collect(t, one, mirrorserver.CollectOptions{MaxBytes: limit, Keep: keep})
		if err != nil || left() != want {
			t.Errorf("%d bytes: %+v, %v: %s are left, want %s", limit, got, err, left(), want)
		}
		return got
	}
	all := collectTo(1<<40, nil, "p0 p1 p2 p3")
	if all.Archives != 4 || all.Bytes < 80_000 || len(all.Removed) != 0 {
		t.Errorf("%+v", all)
	}
	collectTo(all.Bytes-1, nil, "p0 p1 p2") // p3 wasn't used since
	h1, _ := hashesOf(t, contentOf("p0", "1.0.0", linux))
	kept := func(p getproviders.Provider, v getproviders.Version, hashes []getproviders.Hash) bool {
		return p.Type == "p0" && v.String() == "1.0.0" && hashes[0] == h1
	}
	collectTo(1, kept, "p0 p2") // p2 was used lately
	m.clock.pass(4 * time.Hour)
	if got := collectTo(1, kept, "p0"); stat(one, "removed_total") != 3 || len(got.Removed) != 1 || stat(one, "removed_bytes_total") < 60_000 {
		t.Errorf("%+v, %+v", got, one.Stats())
	}
	marks := keysIn(t, m.bucket, "uses/")
	must.Len(t, marks, 1)
	must.Contain(t, marks[0], "/acme/p0/")
	found(t, front, path(2)) // is downloaded again
}

// TestServer_CollectLeavesWhatIsSent: an archive stays as long as a client takes it.
func TestServer_CollectLeavesWhatIsSent(t *testing.T) {
	m := newMirroring(t)
	m.add("large", "1.0.0")
	server, front := m.start(t)
	found(t, front, large)
	settle(t, server)
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
	if got, err := collect(t, server, mirrorserver.CollectOptions{MaxBytes: 1}); len(got.Removed) != 0 || got.Archives != 1 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	must.Get(io.Copy(io.Discard, gate))(t)
	<-done
	if got, err := collect(t, server, mirrorserver.CollectOptions{MaxBytes: 1}); len(got.Removed) != 1 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// pipedResponse is a client that takes what a test lets it.
type pipedResponse struct {
	header http.Header
	to     io.Writer
}

func (p *pipedResponse) Header() http.Header         { return p.header }
func (p *pipedResponse) WriteHeader(int)             {}
func (p *pipedResponse) Write(b []byte) (int, error) { return p.to.Write(b) }

// TestServer_CloseKeepsMarks: a server that ends right after it has sent an archive has noted that.
func TestServer_CloseKeepsMarks(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	m.add("large", "1.0.0")
	first, front := m.start(t)
	found(t, front, archive)
	settle(t, first)
	m.registry.Break("archive", providertest.Fault{Stall: true, CutAfter: 100})
	held := holding(m.bucket, "uses/")
	m.bucket = held
	server, front := m.start(t)
	found(t, front, archive)
	<-held.begun
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		server.Close()
	}()
	get(t, front, large) // ends because the server is closed
	close(held.release)
	<-closed
	must.Len(t, keysIn(t, m.bucket, "uses/"), 1)
}

// heldBucket is a bucket that writes objects of one kind only when it is let to.
type heldBucket struct {
	blob.Bucket
	part    string        // of their keys
	begun   chan struct{} // gets a value when one is to be written
	release chan struct{} // closed: all are written
}

func holding(b blob.Bucket, part string) *heldBucket {
	return &heldBucket{b, part, make(chan struct{}, 100), make(chan struct{})}
}

func (h *heldBucket) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	if strings.Contains(key, h.part) {
		h.begun <- struct{}{}
		select {
		case <-ctx.Done():
			return blob.Info{}, ctx.Err()
		case <-h.release:
		}
	}
	return h.Bucket.Put(ctx, key, content, opts)
}

// TestServer_CollectsBesideOthers: servers that collect at the same time remove what one alone would.
func TestServer_CollectsBesideOthers(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	one, front := m.start(t)
	two, _ := m.start(t)
	for i := range 6 {
		m.add(fmt.Sprintf("p%d", i), "1.0.0")
		found(t, front, host+fmt.Sprintf("acme/p%d/terraform-provider-p%d_1.0.0_linux_amd64.zip", i, i))
		settle(t, one)
	}
	all, err := collect(t, one, mirrorserver.CollectOptions{MaxBytes: 1 << 40})
	if err != nil || all.Archives != 6 {
		t.Fatalf("%+v, %v", all, err)
	}
	m.clock.pass(24 * 365 * time.Hour)
	limit := mirrorserver.CollectOptions{MaxBytes: all.Bytes / 2}
	err = par.Together(t.Context(),
		func(ctx context.Context) error { _, _, err := one.Collect(ctx, limit); return err },
		func(ctx context.Context) error { _, _, err := two.Collect(ctx, limit); return err },
	)
	if left := keysIn(t, m.bucket, ".zip"); err != nil || len(left) != 3 {
		t.Errorf("%v, %d are left: %v", err, len(left), left)
	}
	for i := range 6 {
		found(t, front, host+fmt.Sprintf("acme/p%d/terraform-provider-p%d_1.0.0_linux_amd64.zip", i, i))
	}
}

// TestServer_CollectsWhatIsUnused: an archive goes that no one has asked for in thirty days, whatever all of them take; a dry run
// only tells of it.
func TestServer_CollectsWhatIsUnused(t *testing.T) {
	m := newMirroring(t)
	m.opts.MarkUses = true
	m.clock.now = time.Now() // the bucket says when an archive was stored
	server, front := m.start(t)
	m.add("gadget", "1.0.0")
	for _, path := range []string{archive, strings.ReplaceAll(archive, "widget", "gadget")} {
		found(t, front, path)
		settle(t, server)
	}
	m.clock.pass(20 * 24 * time.Hour)
	found(t, front, archive)
	for len(keysIn(t, m.bucket, "uses/")) < 1 {
		time.Sleep(time.Millisecond)
	}
	m.clock.pass(20 * 24 * time.Hour)
	for _, dry := range []bool{true, false} {
		got, err := collect(t, server, mirrorserver.CollectOptions{MaxUnused: 30 * 24 * time.Hour, DryRun: dry})
		if err != nil || len(got.Removed) != 1 || got.Removed[0].Provider.Type != "gadget" || got.Removed[0].Bytes == 0 || got.Removed[0].Used.IsZero() {
			t.Errorf("dry: %t: %+v, %v", dry, got, err)
		}
		must.Equal(t, len(keysIn(t, m.bucket, ".zip"))-len(keysIn(t, m.bucket, "uses/")), map[bool]int{true: 2, false: 1}[dry])
	}
	got := must.Get(collect(t, server, mirrorserver.CollectOptions{}))(t)
	must.Len(t, got.Removed, 0)
	must.Equal(t, got.Archives, 1)
}

// TestServer_OneOfThemCollects: of the servers of a bucket one collects in an hour, and another one when that has died.
func TestServer_OneOfThemCollects(t *testing.T) {
	m := newMirroring(t)
	m.add("gadget", "1.0.0")
	one, front := m.start(t)
	two, _ := m.start(t)
	found(t, front, archive)
	settle(t, one)
	m.clock.pass(24 * 365 * time.Hour)
	hourly := mirrorserver.CollectOptions{MaxBytes: 1 << 40, Every: time.Hour}
	collects := func(what string, server *mirrorserver.Server, want bool) {
		t.Helper()
		must.Equal(t, (must.Get(collect(t, server, hourly))(t).Archives > 0), want, what)
	}
	collects("the first one", one, true)
	collects("the second one", two, false)
	m.clock.pass(time.Hour)
	collects("the second one, after an hour", two, true)
	collects("the first one, after an hour", one, false)
	must.Len(t, must.Get(collect(t, one, mirrorserver.CollectOptions{MaxBytes: 1}))(t).Removed, 1)
}
