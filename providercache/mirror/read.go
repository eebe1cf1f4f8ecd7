package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Source returns the source that is a mirror in a bucket, as [Update] fills it, or any other
// program that keeps the files of a network mirror there. The source reads the objects itself: no
// web server is in front of it. Archives are read at an offset, so that a download goes on where it
// broke off. The Signers of the source may be set. The bucket is still the caller's to close. The
// error says that the bucket's name isn't a URL.
func Source(bucket blob.Bucket) (*getproviders.NetworkMirrorSource, error) {
	return getproviders.NewStoredMirrorSource(bucketFiles{bucket})
}

// bucketFiles are the objects of a bucket as the files of a mirror.
type bucketFiles struct{ bucket blob.Bucket }

// ReadFile implements getproviders.MirrorFiles.
func (b bucketFiles) ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	content, _, err := blob.ReadAll(ctx, b.bucket, path, limit)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case errors.Is(err, blob.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", &hosts.TooLargeError{Limit: limit}, err)
	}
	return content, err
}

// Archive implements getproviders.MirrorFiles.
func (b bucketFiles) Archive(path string) getproviders.Archive { return Archive(b.bucket, path) }

// String implements getproviders.MirrorFiles.
func (b bucketFiles) String() string { return blob.SourceURL(b.bucket, "") }

// Archive returns the archive that is an object of a bucket. That there is none is known only when
// it is opened: the error matches blob.ErrNotFound.
func Archive(bucket blob.Bucket, key string) getproviders.Archive { return objectArchive{bucket, key} }

// objectArchive is an archive in a bucket.
type objectArchive struct {
	bucket blob.Bucket
	key    string
}

// String is the object's URL.
func (a objectArchive) String() string { return a.bucket.String() + "/" + a.key }

// Open implements getproviders.Archive.
func (a objectArchive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	object, err := a.bucket.Get(ctx, a.key, blob.GetOptions{Offset: offset})
	if errors.Is(err, blob.ErrRange) && offset > 0 { // what was kept of an earlier archive is longer than this one
		offset = 0
		object, err = a.bucket.Get(ctx, a.key, blob.GetOptions{})
	}
	if err != nil {
		return getproviders.OpenedArchive{}, err
	}
	return getproviders.OpenedArchive{Body: object.Body, Offset: offset, Size: object.Size, Validator: object.Tag, Modified: object.Modified}, nil
}
