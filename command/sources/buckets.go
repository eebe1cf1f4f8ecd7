package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/gcs"
	"github.com/tfdeps/tfdeps/internal/s3"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// IsURL reports whether an argument is a URL, and not the path of a directory.
func IsURL(given string) bool { return strings.Contains(given, "://") }

// OpenBucket opens the bucket of a URL. The bucket is to be closed. Others are what else the caller takes in its place,
// such as ociForm.
func (net Network) OpenBucket(ctx context.Context, m *cli.Meta, address string, others ...string) (blob.Bucket, *problem.Problem) {
	bucket, err := net.openBucket(ctx, m, address, append(others, "a directory"))
	if err != nil {
		return nil, problem.Errorf("bucket", "Invalid URL of a bucket", "%s can't be used: %v.", sentenceStart(redacted(address)), err)
	}
	return bucket, nil
}

// OCIForm is how URLs of OCI registries look that have a repository for each provider.
const OCIForm = ociScheme + "HOST/PATH/${namespace}/${type}"

// sentenceStart is a redacted location as a sentence begins with it.
func sentenceStart(location string) string {
	if location == unreadableURL {
		return "A URL that can't be read"
	}
	return location
}

// openBucket opens the bucket of a URL. Others are what else there may be in its place.
func (net Network) openBucket(ctx context.Context, m *cli.Meta, address string, others []string) (blob.Bucket, error) {
	kinds := net.bucketKinds(m)
	if scheme, _, _ := strings.Cut(address, "://"); kinds[strings.ToLower(scheme)] == nil {
		if slices.Contains([]string{"azblob", "azurerm", "az", "abfs", "abfss"}, strings.ToLower(scheme)) {
			return nil, errors.New("the storage of Azure isn't read or written: use its container registry, whose URL is oci://NAME.azurecr.io/PATH")
		}
		forms := append([]string{"s3://BUCKET/PREFIX", "gs://BUCKET/PREFIX"}, others...)
		return nil, fmt.Errorf("it has to be %s or %s", strings.Join(forms[:len(forms)-1], ", "), forms[len(forms)-1])
	}
	bucket, err := kinds.Open(ctx, address)
	if err != nil && errors.Is(err, blob.ErrURL) { // the headline says that already
		err = errors.New(strings.TrimPrefix(err.Error(), blob.ErrURL.Error()+": "))
	}
	return bucket, err
}

// bucketKinds are the buckets that there are. A file URL is a directory.
func (net Network) bucketKinds(m *cli.Meta) blob.Openers {
	return blob.Openers{"s3": s3.Open, "gs": gcs.Opener{Client: net.Archives, Environ: m.Env}.Open}
}
