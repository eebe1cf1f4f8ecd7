package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/transfer"
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

// Remote is where packages of a cache are pushed to and pulled from, by their hashes.
type Remote = remote.Remote

// InBucket is the Remote in a bucket.
func InBucket(bucket blob.Bucket) Remote { return transfer.InBucket(bucket) }

// OnWeb is the Remote that a web server has below base. It can only be pulled from.
func OnWeb(client *http.Client, base *url.URL) Remote { return transfer.OnWeb(client, base) }

// Push sends packages of the Installer's Cache to a Remote. The results are in the order of wanted, and the error joins those
// of all that failed.
func Push(ctx context.Context, in *providercache.Installer, to Remote, wanted []getproviders.PackageSpec) ([]event.Outcome, error) {
	return transfer.Push(ctx, in, to, wanted)
}

// Pull fetches packages into the Installer's Cache. The Source of its Fetcher is a RemoteSource, whose packages are pulled.
func Pull(ctx context.Context, in *providercache.Installer) ([]event.Outcome, error) {
	return transfer.Pull(ctx, in)
}

// RemoteSource is the Source of these packages of a Remote, for Pull.
func RemoteSource(from Remote, wanted []getproviders.PackageSpec) getproviders.Source {
	return &transfer.Source{Remote: from, Wanted: wanted}
}
