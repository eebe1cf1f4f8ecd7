package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Source returns a source that reads a network mirror from a bucket, as [Update] or another program has
// written it. It reads the objects itself, without a web server. It can read an archive from an offset,
// so that a broken download is resumed. The Signers of the source may be set. The caller still has to
// close the bucket. The error says that the bucket's name isn't a URL.
func Source(bucket blob.Bucket) (*getproviders.NetworkMirrorSource, error) {
	return getproviders.NewStoredMirrorSource(bucketFiles{bucket})
}

// bucketFiles are the objects of a bucket as the files of a mirror.
type bucketFiles struct{ bucket blob.Bucket }

// ReadFile returns the content of a file, as NewStoredMirrorSource requires.
func (b bucketFiles) ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	content, _, err := blob.ReadAll(ctx, b.bucket, path, limit)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case errors.Is(err, blob.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", hosts.TooLarge(limit), err)
	}
	return content, err
}

// Archive returns an archive, which is opened at an offset.
func (b bucketFiles) Archive(path string) getproviders.Archive {
	return buckets.Archive(b.bucket, path)
}

// String returns the bucket's URL.
func (b bucketFiles) String() string { return buckets.SourceURL(b.bucket, "") }
