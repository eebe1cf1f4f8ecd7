package mirrorserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

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
	var fronts []*httptest.Server
	for range 3 {
		_, front := m.start(t)
		fronts = append(fronts, front)
	}
	for i := range 5 {
		m.add(fmt.Sprint("p", i), "1.0.0")
	}
	var clients sync.WaitGroup
	for c := range 30 {
		clients.Go(func() {
			for i := range 5 {
				name := fmt.Sprint("p", (i+c)%5)
				got := get(t, fronts[c%3], host+fmt.Sprintf("acme/%s/terraform-provider-%[1]s_1.0.0_linux_amd64.zip", name))
				must.EqualSlices(t, got.body, contentOf(name, "1.0.0", linux))
				must.Equal(t, got.err, nil)
			}
		})
	}
	clients.Wait()
	must.Equal(t, m.registry.Requests("archive"), 5)
	for deadline := time.Now().Add(20 * time.Second); len(keysIn(t, m.bucket, "serve/downloads/")) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q", keysIn(t, m.bucket, "serve/downloads/"))
		}
	}
}

// TestHandler_DownloadsWhatADeadServerHasBegun: its lease expires, and until then no other server begins.
func TestHandler_DownloadsWhatADeadServerHasBegun(t *testing.T) {
	m := newMirroring(t)
	until := m.clock.Now().Add(15 * time.Second).UTC().Format(time.RFC3339)
	must.Get(m.bucket.Put(t.Context(), "serve/downloads"+strings.TrimSuffix(archive, ".zip")+".lease", blob.Bytes([]byte(`{"until":"`+until+`"}`)), blob.PutOptions{}))(t)
	server, front := m.start(t)
	got := make(chan answered, 1)
	go func() { got <- get(t, front, archive) }()
	await(t, func() bool { return stat(server, "downloads_running") > 0 })
	time.Sleep(100 * time.Millisecond) // in which it would begin
	must.Equal(t, m.registry.Requests("archive"), 0, "it is downloaded although another server does that")
	m.clock.pass(15 * time.Second)
	if got := <-got; !bytes.Equal(got.body, contentOf("widget", "1.0.0", linux)) || got.err != nil {
		t.Errorf("%s, %v", got.Status, got.err)
	}
}

// simpleBucket is one of a service that has no conditional writes.
type simpleBucket struct{ blob.Bucket }

func (b simpleBucket) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	if opts.IfAbsent || opts.IfMatch != "" {
		return blob.Info{}, blob.Fail("put", b, key, blob.ErrUnsupported)
	}
	return b.Bucket.Put(ctx, key, content, opts)
}

// TestServer_WorksWithoutLeases: where the bucket has no conditional writes, each server downloads and collects on its own.
func TestServer_WorksWithoutLeases(t *testing.T) {
	m := newMirroring(t)
	m.bucket = simpleBucket{m.bucket}
	server, front := m.start(t)
	found(t, front, archive)
	settle(t, server)
	if _, left, err := server.Collect(t.Context(), mirrorserver.CollectOptions{MaxBytes: 1 << 40, Every: time.Hour}); err != nil {
		t.Errorf("%v, %v", left, err)
	}
}
