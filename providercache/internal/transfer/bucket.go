package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// InBucket returns the packages in a bucket, each under its Key. The bucket is still the caller's to close.
func InBucket(bucket blob.Bucket) remote.Remote { return inBucket{bucket} }

type inBucket struct{ bucket blob.Bucket }

// At implements Remote.
func (r inBucket) At(n remote.Name) (remote.Archive, error) {
	key, err := n.Key()
	return object{buckets.Archive(r.bucket, key), r.bucket, key}, err
}

// String implements Remote.
func (r inBucket) String() string { return r.bucket.String() }

// object is an archive in a bucket.
type object struct {
	getproviders.Archive
	bucket blob.Bucket
	key    string
}

// Open implements Archive.
func (o object) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	opened, err := o.Archive.Open(ctx, offset)
	if errors.Is(err, blob.ErrNotFound) {
		err = remote.ErrAbsent
	}
	return opened, err
}

// Exists implements Archive.
func (o object) Exists(ctx context.Context) (bool, error) {
	_, err := o.bucket.Stat(ctx, o.key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Put implements Archive. Where the service knows no condition, an equal archive may replace the one that is there.
func (o object) Put(ctx context.Context, content *io.SectionReader) error {
	opts := blob.PutOptions{ContentType: "application/zip", CacheControl: "public, max-age=31536000, immutable", IfAbsent: true}
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
