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

// Remote is a place to which packages of a cache are pushed, and from which they are pulled.
//
// It has one archive for each package, under a name that contains the package's h1. Lock files have that hash, so they
// say which archive to read and what its content has to be; nothing else in the remote is read or trusted. Publishers
// share no list that they would have to change together: an archive is created in one step and never changes, any number
// of machines may push and pull at the same time, and the next push sends again what was deleted.
//
// A cache has packages unpacked, so the archive is a new one: the same files, sorted, without times. Its zh
// differs from that of the publisher's archive, and no lock file ever has it; the h1 is the same. A package
// whose h1 isn't in its lock entry can't be verified after a pull, and isn't pushed. Pulled packages pass all
// checks of an Installer and its Fetcher, including the policy, and have no signatures.
type Remote = remote.Remote

// InBucket returns the Remote in a bucket, which has each package under its Key. The caller still has to close the bucket.
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
