package sources

import (
	"context"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/blob/gcs"
	"github.com/tfdeps/tfdeps/providercache/blob/s3"
)

// IsURL reports whether an argument is a URL, and not the path of a directory.
func IsURL(given string) bool { return strings.Contains(given, "://") }

// OpenBucket opens the bucket of a URL. The bucket is to be closed.
func (net Network) OpenBucket(ctx context.Context, m *cli.Meta, address string) (blob.Bucket, *problem.Problem) {
	bucket, err := net.bucketKinds(m).Open(ctx, address)
	if err != nil {
		return nil, problem.CodedError("bucket", "Invalid URL of a bucket", problem.Sentence(err))
	}
	return bucket, nil
}

// bucketKinds are the buckets that there are. A file URL is a directory.
func (net Network) bucketKinds(m *cli.Meta) blob.Openers {
	return blob.Openers{"s3": s3.Open, "gs": gcs.Opener{Client: net.Archives, Environ: m.Env}.Open}
}
