package mirrorserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// TestHandler_ServersOfABucketDownloadOnce has clients ask three servers of one bucket for the same archives at once: each archive is
// downloaded once, by one of the servers, and nothing of that stays in the bucket.
func TestHandler_ServersOfABucketDownloadOnce(t *testing.T) {
	m := newMirroring(t)
	m.registry.Break("archive", providertest.Fault{Rate: 200_000})
	var servers []*running
	for range 3 {
		servers = append(servers, m.start())
	}
	for i := range 5 {
		m.add(fmt.Sprint("p", i), "1.0.0")
	}
	var clients sync.WaitGroup
	for c := range 30 {
		clients.Go(func() {
			for i := range 5 {
				name := fmt.Sprint("p", (i+c)%5)
				got := servers[c%3].get(archiveOf(name))
				must.EqualSlices(t, got.body, contentOf(name, "1.0.0", linux))
				must.Equal(t, got.err, nil)
			}
		})
	}
	clients.Wait()
	must.Equal(t, m.registry.Requests("archive"), 5)
	await(t, func() bool { return len(m.keys("serve/downloads/")) == 0 })
}

// TestHandler_DownloadsWhatADeadServerHasBegun: its lease expires, and until then no other server begins.
func TestHandler_DownloadsWhatADeadServerHasBegun(t *testing.T) {
	m := newMirroring(t)
	until := m.clock.Now().Add(15 * time.Second).UTC().Format(time.RFC3339)
	must.Get(m.bucket.Put(t.Context(), "serve/downloads"+strings.TrimSuffix(archive, ".zip")+".lease", blob.Bytes([]byte(`{"until":"`+until+`"}`)), blob.PutOptions{}))(t)
	server := m.start()
	got := server.asking(archive)
	await(t, func() bool { return server.stat("downloads_running") > 0 })
	time.Sleep(100 * time.Millisecond) // in which it would begin
	must.Equal(t, m.registry.Requests("archive"), 0, "it is downloaded although another server does that")
	m.clock.pass(15 * time.Second)
	if got := <-got; !bytes.Equal(got.body, contentOf("widget", "1.0.0", linux)) || got.err != nil {
		t.Errorf("%s, %v", got.Status, got.err)
	}
}

// TestServer_WorksWithoutLeases: where the bucket has no conditional writes, each server is ready, downloads, stores and collects on its own.
func TestServer_WorksWithoutLeases(t *testing.T) {
	m := newMirroring(t)
	m.bucket = &installtest.Hooked{Bucket: m.bucket, Before: installtest.Unconditional}
	m.opts.MarkUses = true
	server := m.start()
	server.found(archive)
	server.settle()
	_, left, _ := server.collect(mirrorserver.CollectOptions{MaxBytes: 1 << 40, Every: time.Hour})
	must.Len(t, left, 1)
	server.found(archive)
	must.Equal(t, m.registry.Requests("archive"), 1)
	must.Equal(t, server.Ready(t.Context()), nil)
	await(t, func() bool { return len(m.keys("uses/")) == 1 })
	must.Equal(t, server.stat("store_failures_total"), 0)
}

var errNoBucket, errExpired = errors.New("no such bucket"), errors.New("the token has expired")

// TestServer_IsntReadyWithoutItsBucket: the bucket is asked for real, but not each time. Credentials that have expired are as bad as
// no bucket.
func TestServer_IsntReadyWithoutItsBucket(t *testing.T) {
	m := newMirroring(t)
	bucket := &installtest.Hooked{Bucket: m.bucket}
	m.bucket = bucket
	asked, refusal := 0, errNoBucket
	gone := func(_ context.Context, c installtest.Call) error { // as with a service, by its status alone it isn't told from a missing object
		if c.Op == "put" {
			return refusal
		}
		asked++
		return blob.ErrNotFound
	}
	server := m.start()
	bucket.Before = gone
	for range 3 {
		must.Fail(t, server.Ready(t.Context()), errNoBucket)
	}
	must.Equal(t, asked, 1)
	bucket.Before = nil
	for _, want := range []bool{false, true} {
		must.Equal(t, server.Ready(t.Context()) == nil, want)
		m.clock.pass(11 * time.Second)
	}
	must.Len(t, m.keys("ready"), 1)
	must.Equal(t, server.Ready(t.Context()), nil)
	bucket.Before = gone
	m.clock.pass(11 * time.Second)
	must.Refuse(server.Ready(t.Context()))(t, "it is ready although the bucket has gone")
	refusal = blob.ErrExists // another server was faster
	m.clock.pass(11 * time.Second)
	must.Equal(t, server.Ready(t.Context()), nil)
	bucket.Before = func(context.Context, installtest.Call) error { return errExpired }
	m.clock.pass(11 * time.Second)
	must.Fail(t, server.Ready(t.Context()), errExpired)
}

// TestStats_OnlyGrow looks at the counts while a response from the bucket breaks off: its bytes count as those of the
// bucket from the first.
func TestStats_OnlyGrow(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	body := server.found(archive).body
	server.settle()
	await(t, func() bool { return server.stat("requests_running") == 0 }) // what was sent counts at the end of the answer
	sent := func(of *running) [2]int64 {
		return [2]int64{of.stat(`archive_bytes_total{from="upstream"}`), of.stat(`archive_bytes_total{from="store"}`)}
	}
	must.Equal(t, sent(server), [2]int64{int64(len(body)), 0})
	logged := make(chan [2]int64, 10)
	var short *running
	m.bucket = &installtest.Hooked{Bucket: m.bucket, After: func(c installtest.Call, o *blob.Object) {
		if o != nil && strings.HasSuffix(c.Key, ".zip") {
			installtest.Cut(o, 1000, io.EOF)
		}
	}}
	m.opts.Log = slog.New(slog.NewTextHandler(writerFunc(func() { logged <- sent(short) }), nil))
	short = m.start()
	must.Refuse(short.get(archive).err)(t, "all of it has arrived")
	must.Equal(t, <-logged, [2]int64{0, 1000})
}

// writerFunc is called for what is written.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
