package mirror

import (
	"context"
	"errors"
	"io"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// InBucket returns the Remote that has the packages in a bucket, each under its Key. The bucket is still the caller's to close.
func InBucket(bucket blob.Bucket) Remote { return bucketRemote{bucket} }

type bucketRemote struct{ bucket blob.Bucket }

// At implements Remote.
func (r bucketRemote) At(n remote.Name) (remote.Archive, error) {
	key, err := n.Key()
	return bucketArchive{buckets.Archive(r.bucket, key), r.bucket, key}, err
}

// String implements Remote.
func (r bucketRemote) String() string { return r.bucket.String() }

// bucketArchive is an archive in a bucket.
type bucketArchive struct {
	getproviders.Archive
	bucket blob.Bucket
	key    string
}

// Open implements Archive.
func (o bucketArchive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	opened, err := o.Archive.Open(ctx, offset)
	if errors.Is(err, blob.ErrNotFound) {
		err = remote.ErrAbsent
	}
	return opened, err
}

// Exists implements Archive.
func (o bucketArchive) Exists(ctx context.Context) (bool, error) {
	_, err := o.bucket.Stat(ctx, o.key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Put implements Archive. Where the service knows no condition, an equal archive may replace the one that is there.
func (o bucketArchive) Put(ctx context.Context, content *io.SectionReader) error {
	opts := blob.PutOptions{ContentType: archiveType, CacheControl: archiveLifetime, IfAbsent: true}
	_, err := o.bucket.Put(ctx, o.key, content, opts)
	if errors.Is(err, blob.ErrUnsupported) {
		opts.IfAbsent = false
		_, err = o.bucket.Put(ctx, o.key, content, opts)
	}
	if errors.Is(err, blob.ErrExists) {
		return nil
	}
	return err
}
