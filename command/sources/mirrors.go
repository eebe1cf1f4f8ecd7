package sources

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// mirrorVariable names mirrors, with commas between them.
const mirrorVariable = "TFDEPS_MIRROR"

// MirrorFlag is the option -mirror, whose values [Session.OpenMirrors] takes.
func MirrorFlag(given *[]string) cli.Flag {
	return cli.Option("mirror=URL", cli.Func(func(value string) error {
		for each := range strings.SplitSeq(value, ",") {
			if each = strings.TrimSpace(each); each == "" {
				return errors.New("the URL of a mirror, or a directory, has to follow")
			}
			if !slices.Contains(*given, each) {
				*given = append(*given, each)
			}
		}
		return nil
	}),
		"Take providers from this mirror, and from nowhere else. It is a bucket such as s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, an OCI registry at oci://HOST/PATH/${namespace}/${type}, a network mirror at https://, or a directory in the layout of a filesystem mirror. May be given more than once, or with commas: they are asked in their order.").
		Or(mirrorVariable, "which mirrors providers come from")
}

// Mirror is a mirror of -mirror.
type Mirror struct {
	Location string // as it was given, without what may be a secret
	Source   getproviders.Source
}

// OpenBucket opens the bucket of a URL. The bucket is to be closed. Others are what else the caller takes in its place,
// such as ociForm.
func (net Network) OpenBucket(ctx context.Context, address string, others ...string) (blob.Bucket, *problem.Problem) {
	bucket, err := net.Bucket(ctx, address, append(others, "a directory")...)
	if err != nil {
		return nil, problem.Errorf("bucket", "Invalid URL of a bucket", "%s can't be used: %v.", sentenceStart(places.Redacted(address)), err)
	}
	return bucket, nil
}

// OpenRegistry returns what publishes packages in the repositories of a URL, and creates those that are missing; create may be
// nil. Nothing is asked yet.
func (net Network) OpenRegistry(address string, create func(context.Context, oci.Repository) error) (remote.Releases, *problem.Problem) {
	releases, err := net.Releases(address, create)
	if err != nil {
		return nil, problem.CodedError("bucket", "Invalid URL of a registry", problem.Sentence(err))
	}
	return releases, nil
}

// sentenceStart is a redacted location as a sentence begins with it.
func sentenceStart(location string) string {
	if location == places.UnreadableURL {
		return "A URL that can't be read"
	}
	return location
}
