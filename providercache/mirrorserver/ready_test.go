package mirrorserver_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// goneBucket is a bucket that may be missing. As with a service, it isn't told from a missing object by its status alone.
type goneBucket struct {
	blob.Bucket
	gone  atomic.Bool
	shut  atomic.Bool // credentials have expired
	asked atomic.Int64
}

var errNoBucket, errExpired = errors.New("no such bucket"), errors.New("the token has expired")

func (b *goneBucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	if b.gone.Load() {
		return blob.Info{}, blob.Fail("stat", b, key, blob.ErrNotFound)
	}
	return b.Bucket.Stat(ctx, key)
}

func (b *goneBucket) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	b.asked.Add(1)
	if b.shut.Load() {
		return nil, errExpired
	}
	if b.gone.Load() {
		return nil, blob.Fail("get", b, key, blob.ErrNotFound)
	}
	return b.Bucket.Get(ctx, key, opts)
}

func (b *goneBucket) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	if b.gone.Load() {
		return blob.Info{}, errNoBucket
	}
	return b.Bucket.Put(ctx, key, content, opts)
}

// TestServer_IsntReadyWithoutItsBucket: the bucket is asked for real, but not each time. Credentials that have expired are as bad as
// no bucket.
func TestServer_IsntReadyWithoutItsBucket(t *testing.T) {
	m := newMirroring(t)
	bucket := &goneBucket{Bucket: m.bucket}
	m.bucket = bucket
	server, _ := m.start(t)
	bucket.gone.Store(true)
	for range 3 {
		must.Fail(t, server.Ready(t.Context()), errNoBucket)
	}
	must.Equal(t, bucket.asked.Load(), 1)
	bucket.gone.Store(false)
	for _, want := range []bool{false, true} {
		must.Equal(t, server.Ready(t.Context()) == nil, want)
		m.clock.pass(11 * time.Second)
	}
	must.Len(t, keysIn(t, bucket, "ready"), 1)
	must.Equal(t, server.Ready(t.Context()), nil)
	bucket.gone.Store(true)
	m.clock.pass(11 * time.Second)
	must.Refuse(server.Ready(t.Context()))(t, "it is ready although the bucket has gone")
	bucket.gone.Store(false)
	bucket.shut.Store(true)
	m.clock.pass(11 * time.Second)
	must.Fail(t, server.Ready(t.Context()), errExpired)
}
