package fetch

import (
	"context"
	"io"
	"net/url"
	"os"

	"github.com/hashicorp/go-getter"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// getBucket gets an object of s3 or gcs, or all that a prefix has. Credentials are
// found by the SDKs of these services.
func (f *Fetcher) getBucket(ctx context.Context, from origin, dst string) error {
	if f.Offline {
		return ErrOffline
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return withoutURL(err)
	}
	var service getter.Getter = &getter.S3Getter{}
	if from.kind == "gcs" {
		service = &getter.GCSGetter{}
	}
	service.SetClient(&getter.Client{
		Ctx:              ctx,
		Umask:            0o022,
		ProgressListener: &bucketLimit{ctx: ctx, limit: f.bounds.withDefaults().download},
	})
	if from.archive != "" {
		return service.GetFile(dst, u)
	}
	if err := service.Get(dst, u); err != nil {
		return err
	}
	if info, err := os.Stat(dst); err != nil || !info.IsDir() {
		return ErrNotFound // a prefix that nothing has is no error to these services
	}
	return nil
}

// bucketLimit stops objects that are too large, all together. It poses as
// what shows progress, because that is given every body; those of gcs are not.
type bucketLimit struct {
	ctx   context.Context
	limit int64
	read  int64
}

// TrackProgress implements getter.ProgressTracker.
func (b *bucketLimit) TrackProgress(_ string, _, _ int64, stream io.ReadCloser) io.ReadCloser {
	return &bucketBody{ReadCloser: stream, all: b}
}

type bucketBody struct {
	io.ReadCloser
	all *bucketLimit
}

// Read implements io.Reader.
func (b *bucketBody) Read(p []byte) (int, error) {
	n, err := cancellable{b.all.ctx, b.ReadCloser}.Read(p)
	b.all.read += int64(n)
	if b.all.read > b.all.limit {
		return 0, &hosts.TooLargeError{Limit: b.all.limit}
	}
	return n, err
}
