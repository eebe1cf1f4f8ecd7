// Package s3 implements buckets of Amazon S3, and of services with its protocol: Cloudflare R2,
// MinIO, Ceph, Garage, versitygw and others.
//
//	bucket, err := s3.New(ctx, s3.Options{Bucket: "providers", Region: "eu-west-1"})
//	defer bucket.Close()
//
// [Open] opens URLs, and is one of [buckets.Openers]:
//
//	s3://BUCKET/PREFIX?region=eu-west-1
//	s3://BUCKET/PREFIX?endpoint=https://minio.example.com&region=us-east-1
//
// Settings that a URL omits come from the environment and the shared files of AWS, such as
// AWS_REGION, AWS_PROFILE and AWS_ENDPOINT_URL_S3. Credentials are found like those of the AWS CLI,
// for the first request.
//
// Put uses the conditional writes of S3, which exist since 2024; R2, MinIO, Ceph and versitygw have
// them as well. An old service may ignore the conditions silently: then the last of several writers
// wins.
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

// Options select a bucket and its service. Only Bucket is required.
type Options struct {
	Bucket string
	Region string // "" means that of the environment or the profile, or us-east-1 with an Endpoint
	// Endpoint is the URL of another service than Amazon's: https://minio.example.com, or
	// http://127.0.0.1:9000. "" means that of the environment or the profile, or else Amazon's.
	Endpoint string
	// PathStyle puts the bucket's name into the URL's path instead of its host; nil means true if there is an
	// Endpoint.
	PathStyle *bool
	Profile   string // of the shared files; "" means that of the environment
	Anonymous bool   // requests aren't signed, which is enough for public objects
	// Credentials replace the usual lookup; nil means the lookup.
	Credentials aws.CredentialsProvider
	// Client makes the requests; nil means a client of the bucket's own.
	Client *http.Client
}

// bucket implements blob.Bucket, without the checks of [blob.Sub].
type bucket struct {
	name   string
	client *s3.Client
	config aws.Config
}

// New returns a bucket, without a request to it. The error is one of AWS's shared files, or matches
// buckets.ErrURL if no region is configured for Amazon's service.
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
			// Some services don't support the checksums that the SDK sends to Amazon since 2025.
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
	if !placed { // otherwise the SDK would report an invalid region at each request
		awslogin.Close(found)
		return nil, buckets.Invalid("nothing says in which region s3://%s is: add ?region=REGION to the URL, or set AWS_REGION, or region in the profile of AWS", opts.Bucket)
	}
	return &bucket{name: opts.Bucket, client: client, config: found}, nil
}

// parameters are the parameters of a URL.
var parameters = []string{"region", "endpoint", "path-style", "profile", "anonymous"}

// Open opens s3://BUCKET/PREFIX. The parameters region, endpoint, path-style, profile and anonymous
// set the fields of [Options] with these names; path-style and anonymous are true or false. It is
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

// Endpoint returns the URL of the service, or "" for Amazon's main partition, in which a bucket's name is unique across regions.
// Other partitions, such as China's, may have buckets of the same names.
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
