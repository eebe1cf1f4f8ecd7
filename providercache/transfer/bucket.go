package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// InBucket returns the packages in a bucket, each under its Key. The bucket is still the caller's to close.
func InBucket(bucket blob.Bucket) Remote { return inBucket{bucket} }

type inBucket struct{ bucket blob.Bucket }

// Open implements Remote.
func (r inBucket) Open(ctx context.Context, n Name, offset int64) (getproviders.OpenedArchive, error) {
	key, err := n.Key()
	if err != nil {
		return getproviders.OpenedArchive{}, err
	}
	opened, err := mirror.Archive(r.bucket, key).Open(ctx, offset)
	if errors.Is(err, blob.ErrNotFound) {
		err = ErrAbsent
	}
	return opened, err
}

// Has implements Remote.
func (r inBucket) Has(ctx context.Context, n Name) (bool, error) {
	key, err := n.Key()
	if err != nil {
		return false, err
	}
	_, err = r.bucket.Stat(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Put implements Remote. Where the service knows no condition, an equal archive may replace the one that is there.
func (r inBucket) Put(ctx context.Context, n Name, content *io.SectionReader) error {
	key, err := n.Key()
	if err != nil {
		return err
	}
	opts := blob.PutOptions{ContentType: "application/zip", CacheControl: "public, max-age=31536000, immutable", IfAbsent: true}
	_, err = r.bucket.Put(ctx, key, content, opts)
	if errors.Is(err, blob.ErrUnsupported) {
		opts.IfAbsent = false
		_, err = r.bucket.Put(ctx, key, content, opts)
	}
	if errors.Is(err, blob.ErrExists) {
		return nil
	}
	return err
}

// URL implements Remote.
func (r inBucket) URL(n Name) string {
	key, err := n.Key()
	if err != nil {
		return r.String()
	}
	return r.String() + "/" + key
}

// String implements Remote.
func (r inBucket) String() string { return r.bucket.String() }
