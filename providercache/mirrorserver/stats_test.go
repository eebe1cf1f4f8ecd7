package mirrorserver_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// shortBucket has archives of which only the beginning can be read.
type shortBucket struct{ blob.Bucket }

func (b shortBucket) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	object, err := b.Bucket.Get(ctx, key, opts)
	if err == nil && strings.HasSuffix(key, ".zip") {
		object.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(object.Body, 1000), object.Body}
	}
	return object, err
}

// TestStats_OnlyGrow looks at the counts while a response from the bucket breaks off: its bytes count as those of the
// bucket from the first.
func TestStats_OnlyGrow(t *testing.T) {
	m := newMirroring(t)
	server, front := m.start(t)
	body := found(t, front, archive).body
	settle(t, server)
	for stat(server, "requests_running") > 0 { // what was sent counts at the end of the answer
		time.Sleep(time.Millisecond)
	}
	sent := func(of *mirrorserver.Server) [2]int64 {
		return [2]int64{stat(of, `archive_bytes_total{from="upstream"}`), stat(of, `archive_bytes_total{from="store"}`)}
	}
	must.Equal(t, sent(server), [2]int64{int64(len(body)), 0})
	logged := make(chan [2]int64, 10)
	var short *mirrorserver.Server
	m.bucket = shortBucket{m.bucket}
	m.opts.Log = slog.New(slog.NewTextHandler(writerFunc(func() { logged <- sent(short) }), nil))
	short, front = m.start(t)
	if got := get(t, front, archive); got.err == nil {
		t.Fatalf("all of it has arrived: %d bytes", len(got.body))
	}
	must.Equal(t, <-logged, [2]int64{0, 1000})
}

// writerFunc is called for what is written.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
