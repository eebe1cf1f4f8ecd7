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

// MirrorFlag is the option -mirror, whose values [Options.OpenMirrors] takes.
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

// Mirrors are the mirrors of -mirror. The zero value has no mirrors.
type Mirrors struct {
	Opened  []Mirror // in the order of the options
	buckets []blob.Bucket
}

// Mirror is one of them.
type Mirror struct {
	Location string // as it was given, without what may be a secret
	Source   getproviders.Source
	remote   bool // it can't be asked without a network
}

// OpenMirrors opens the mirrors of -mirror, in their order; nothing is asked of any of them yet, but the credentials of
// buckets may be looked for. They are to be closed.
func (o Options) OpenMirrors(m *cli.Meta, given []string) (*Mirrors, problem.List) {
	all := &Mirrors{}
	var problems problem.List
	for _, location := range given {
		opened := Mirror{Location: places.Redacted(location)}
		source, bucket, remote, err := o.Net.Mirror(m.Context, o.Single(m), location)
		if opened.Source, opened.remote = source, remote; bucket != nil {
			all.buckets = append(all.buckets, bucket)
		}
		if err != nil {
			problems = append(problems, problem.Errorf("invalid_option", "Invalid mirror", "The mirror %s can't be used: %v.",
				opened.Location, err))
			continue
		}
		all.Opened = append(all.Opened, opened)
	}
	return all, problems
}

// sources are the mirrors as the options allow them to be asked.
func (all *Mirrors) sources(o Options) (asked []getproviders.Source) {
	if all == nil {
		return nil
	}
	for _, each := range all.Opened {
		source := each.Source
		if each.remote && o.Net.OfflineBy != "" {
			source = getproviders.Offline(source, o.Net.OfflineBy, o.Cached)
		}
		asked = append(asked, source)
	}
	return asked
}

// Close closes connections. Nothing is asked of the mirrors afterwards.
func (all *Mirrors) Close() {
	if all == nil {
		return
	}
	for _, bucket := range all.buckets {
		_ = bucket.Close()
	}
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
