// Package s3 has buckets of Amazon S3, and of services that speak its protocol: Cloudflare R2,
// MinIO, Ceph, Garage, versitygw and others.
//
//	bucket, err := s3.New(ctx, s3.Options{Bucket: "providers", Region: "eu-west-1"})
//	defer bucket.Close()
//
// [Open] reads URLs, and is one of [buckets.Openers]:
//
//	s3://BUCKET/PREFIX?region=eu-west-1
//	s3://BUCKET/PREFIX?endpoint=https://minio.example.com&region=us-east-1
//
// What a URL leaves open, the environment and the shared files of AWS say, such as AWS_REGION,
// AWS_PROFILE and AWS_ENDPOINT_URL_S3. Credentials are found as AWS's own programs find them, when
// the first request is made.
//
// Conditions of Put are those of S3 itself, which has them since 2024; R2, MinIO, Ceph and
// versitygw have them as well. A service may be so old that it ignores them without saying so: then
// the last of several writers wins.
package s3

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tfdeps/tfdeps/internal/awslogin"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Options say which bucket it is, and how it is reached. Only Bucket is required.
type Options struct {
	Bucket string
	Region string // "": that of the environment or the profile; with an Endpoint, else us-east-1
	// Endpoint is the URL of another service than Amazon's: https://minio.example.com, or
	// http://127.0.0.1:9000. "": that of the environment or the profile, else Amazon's.
	Endpoint string
	// PathStyle has the bucket in the path of URLs, and not in their host; nil: it does so if there is an Endpoint.
	PathStyle *bool
	Profile   string // of the shared files; "": that of the environment
	Anonymous bool   // requests aren't signed, which is enough for what is public
	// Credentials are used in place of those that would be found; nil: those are looked for.
	Credentials aws.CredentialsProvider
	// Client makes the requests; nil: one of the bucket's own.
	Client *http.Client
}

// bucket is a bucket of S3, without the checks of [blob.Sub].
type bucket struct {
	name   string
	client *s3.Client
	config aws.Config
}

// New returns a bucket, which isn't asked yet. The error is one of the shared files of AWS, or
// matches buckets.ErrURL: nothing says which region of Amazon's it is.
func New(ctx context.Context, opts Options) (blob.Bucket, error) {
	b, err := newBucket(ctx, opts)
	if err != nil {
		return nil, err
	}
	return blob.Sub(b, ""), nil
}

func newBucket(ctx context.Context, opts Options) (*bucket, error) {
	found, err := awslogin.Load(ctx, awslogin.Login{Profile: opts.Profile, Region: opts.Region, Anonymous: opts.Anonymous})
	if err != nil {
		return nil, fmt.Errorf("the configuration of s3: %w", err)
	}
	if opts.Credentials != nil {
		found.Credentials = opts.Credentials
	}
	if opts.Client != nil {
		found.HTTPClient = opts.Client
	}
	placed := true
	client := s3.NewFromConfig(found, func(o *s3.Options) {
		if opts.Endpoint != "" {
			o.BaseEndpoint = &opts.Endpoint
		}
		if o.BaseEndpoint != nil {
			o.UsePathStyle = true
			// Some services don't know the checksums that Amazon's has since 2025.
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			if o.Region == "" {
				o.Region = "us-east-1"
			}
		}
		placed = o.Region != ""
		if opts.PathStyle != nil {
			o.UsePathStyle = *opts.PathStyle
		}
	})
	if !placed { // the SDK would call that an invalid region, at each request
		awslogin.Close(found)
		return nil, buckets.Invalid("nothing says in which region s3://%s is: add ?region=REGION to the URL, or set AWS_REGION, or region in the profile of AWS", opts.Bucket)
	}
	return &bucket{name: opts.Bucket, client: client, config: found}, nil
}

// parameters are those that a URL may have.
var parameters = []string{"region", "endpoint", "path-style", "profile", "anonymous"}

// Open opens s3://BUCKET/PREFIX. The parameters region, endpoint, path-style, profile and anonymous
// are the fields of [Options] with these names; path-style and anonymous are true or false. It is
// one of [buckets.Openers].
func Open(ctx context.Context, u *url.URL) (blob.Bucket, error) {
	opts, prefix, err := parse(u)
	if err != nil {
		return nil, err
	}
	bucket, err := New(ctx, opts)
	if err != nil {
		return nil, err
	}
	return blob.Sub(bucket, prefix), nil
}

func parse(u *url.URL) (opts Options, prefix string, err error) {
	name, prefix, query, err := buckets.SplitURL(u, parameters...)
	if err != nil {
		return Options{}, "", err
	}
	opts = Options{Bucket: name, Region: query.Get("region"), Endpoint: query.Get("endpoint"), Profile: query.Get("profile")}
	if opts.Endpoint != "" {
		at, err := url.Parse(opts.Endpoint)
		if err != nil || !slices.Contains([]string{"http", "https"}, at.Scheme) || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
			return Options{}, "", buckets.Invalid("the parameter endpoint of s3:// is a URL such as https://minio.example.com")
		}
	}
	for _, name := range []string{"path-style", "anonymous"} {
		if !query.Has(name) {
			continue
		}
		value, err := strconv.ParseBool(query.Get(name))
		if err != nil {
			return Options{}, "", buckets.Invalid("the parameter %s of s3:// is true or false", name)
		}
		if name == "anonymous" {
			opts.Anonymous = value
		} else {
			opts.PathStyle = &value
		}
	}
	return opts, prefix, nil
}

// Endpoint is the URL of the service if it isn't Amazon's own, where a name is that of one bucket whatever the region is: "". Other
// partitions, such as China's, have buckets of the same names.
func (b *bucket) Endpoint() string {
	opts := b.client.Options()
	if opts.BaseEndpoint != nil {
		return *opts.BaseEndpoint
	}
	if part := strings.Split(opts.Region, "-"); len(part) == 3 && len(part[0]) == 2 && part[0] != "cn" {
		return ""
	}
	found, err := opts.EndpointResolverV2.ResolveEndpoint(context.Background(), s3.EndpointParameters{Region: &opts.Region}.WithDefaults())
	if err != nil {
		return opts.Region
	}
	return found.URI.String()
}

// String implements blob.Bucket.
func (b *bucket) String() string { return "s3://" + b.name }

// Close implements blob.Bucket.
func (b *bucket) Close() error {
	awslogin.Close(b.config)
	return nil
}
