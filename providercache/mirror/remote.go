package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/remote"
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

// ReadFile returns the content of a file, as NewStoredMirrorSource wants it.
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

// Archive returns a file that may be large.
func (b bucketFiles) Archive(path string) getproviders.Archive {
	return buckets.Archive(b.bucket, path)
}

// String is the URL of the bucket.
func (b bucketFiles) String() string { return buckets.SourceURL(b.bucket, "") }

// Remote is where packages of a cache are pushed to and pulled from.
//
// It has an archive for each package, under a name that its h1 is a part of. Lock files have that hash, so that they say which
// archive is meant, and whether it is what it should be; nothing else in the remote needs to be read or trusted. There is no
// list that publishers would have to change together: an archive comes into being in one step and never changes, any number of
// machines may push and pull at the same time, and what is deleted is sent again by the next push.
//
// A cache has packages unpacked, so the archive is a new one: the same files, sorted, with no times. Its zh is another one than
// that of the publisher's archive, and no lock file ever has it; the h1 is the same. A package whose lock entry has no h1 that
// fits can't be verified after it was pulled, and is not pushed. What is pulled passes all checks of an Installer and its
// Fetcher, and a policy if there is one, and brings no signatures.
type Remote = remote.Remote

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

// Put implements Archive.
func (o bucketArchive) Put(ctx context.Context, content *io.SectionReader) error {
	return buckets.PutOnce(ctx, o.bucket, o.key, content, blob.PutOptions{ContentType: archiveType, CacheControl: archiveLifetime})
}
