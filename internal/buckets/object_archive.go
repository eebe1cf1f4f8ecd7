package buckets

import (
	"context"
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

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
