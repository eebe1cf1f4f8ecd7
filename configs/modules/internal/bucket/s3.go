package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// domainsOfAWS are those of its partitions. A host in one of them has the region, and perhaps the bucket, in its name.
var domainsOfAWS = []string{"amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "c2s.ic.gov", "sc2s.sgov.gov", "cloud.adc-e.uk", "csp.hci.ic.gov"}

// s3Address is what a URL says.
type s3Address struct {
	bucket, key, version string
	endpoint             string // "": AWS's own
	region               string
	login                s3Login
}

// s3Login is by which credentials a service is asked, and what else the configuration
// of a client depends on.
type s3Login struct {
	profile, region string
	static          bool // the three that follow count, and nothing is looked for
	id, secret      string
	token           string
}

// parseS3 reads a URL in one of the forms that the package comment lists.
func parseS3(u *url.URL) (s3Address, error) {
	var at s3Address
	var err error
	query := u.Query()
	if domain := domainOfAWS(u.Host); domain != "" {
		at, err = parseAWS(strings.Split(strings.TrimSuffix(u.Host, domain), "."), u.Path)
	} else {
		at.bucket, at.key, err = splitPath(u.Path)
		at.endpoint = u.Scheme + "://" + u.Host
		at.region = query.Get("region")
		if at.region == "" {
			at.region = "us-east-1"
		}
	}
	if err != nil {
		return s3Address{}, err
	}
	at.version = query.Get("version")
	at.login = s3Login{profile: query.Get("aws_profile")}
	if at.login.profile != "" {
		return at, nil // which has all of this
	}
	at.login = s3Login{
		region: at.region,
		static: query.Has("aws_access_key_id") || query.Has("aws_access_key_secret") || query.Has("aws_access_token"),
		id:     query.Get("aws_access_key_id"),
		secret: query.Get("aws_access_key_secret"),
		token:  query.Get("aws_access_token"),
	}
	return at, nil
}

func domainOfAWS(host string) string {
	for _, domain := range domainsOfAWS {
		if strings.HasSuffix(host, domain) {
			return domain
		}
	}
	return ""
}

// parseAWS reads the labels of a host before AWS's domain, of which the last one is empty, and a path.
func parseAWS(labels []string, path string) (at s3Address, err error) {
	switch len(labels) {
	case 2: // s3, s3-REGION
		at.region = regionOf(labels[0])
		if at.region == "" {
			at.region = "us-east-1"
		}
		at.bucket, at.key, err = splitPath(path)
		return at, err
	case 3: // BUCKET.s3-REGION
		at.region = regionOf(labels[1])
	case 4: // BUCKET.s3.REGION
		at.region = labels[2]
	}
	key, found := strings.CutPrefix(path, "/")
	if at.region == "" || !found {
		return s3Address{}, fmt.Errorf("%w: s3 knows s3.amazonaws.com/BUCKET/KEY, s3-REGION.amazonaws.com/BUCKET/KEY and BUCKET.s3.REGION.amazonaws.com/KEY", ErrAddress)
	}
	at.bucket, at.key = labels[0], key
	return at, nil
}

func regionOf(label string) string {
	return strings.TrimPrefix(strings.TrimPrefix(label, "s3-"), "s3")
}

// splitPath reads /BUCKET/KEY.
func splitPath(path string) (bucket, key string, err error) {
	parts := strings.SplitN(path, "/", 3)
	if len(parts) < 3 {
		return "", "", fmt.Errorf("%w: the path of s3 has to be /BUCKET/KEY", ErrAddress)
	}
	return parts[1], parts[2], nil
}

func (s *Services) openS3(ctx context.Context, u *url.URL) (Objects, error) {
	at, err := parseS3(u)
	if err != nil {
		return Objects{}, err
	}
	found, err := s.configs.Do(ctx, at.login, func(ctx context.Context) (aws.Config, error) { return s.loadConfig(ctx, at.login) })
	if err != nil {
		return Objects{}, err
	}
	client := s3.NewFromConfig(found, func(o *s3.Options) {
		if at.endpoint != "" {
			o.UsePathStyle = true
			o.BaseEndpoint = &at.endpoint
		}
		if o.Region == "" {
			o.Region = at.region // the profile has none
		}
	})
	return Objects{Key: at.key, bucket: at.bucket, version: at.version, service: amazon{client, found.HTTPClient}}, nil
}

// loadConfig reads the environment and the shared files as far as the address leaves anything open. Nothing is logged: what matters
// is in errors, and standard error is not the SDK's.
func (s *Services) loadConfig(ctx context.Context, login s3Login) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	metadata := s.variable("AWS_METADATA_URL")
	switch {
	case login.profile != "":
		options = append(options, config.WithSharedConfigProfile(login.profile))
	case login.static:
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(login.id, login.secret, login.token)))
	case metadata != "":
		role := ec2rolecreds.New(func(o *ec2rolecreds.Options) {
			o.Client = imds.New(imds.Options{Endpoint: metadata, ClientEnableState: imds.ClientEnabled})
		})
		options = append(options, config.WithCredentialsProvider(role))
	}
	if login.region != "" {
		options = append(options, config.WithRegion(login.region))
	}
	found, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, err
	}
	// The SDK would make a client for each use, whose connections nothing closes.
	if own, ok := found.HTTPClient.(*awshttp.BuildableClient); ok {
		found.HTTPClient = own.Freeze()
	}
	return found, nil
}

// amazon is S3, or what speaks its protocol.
type amazon struct {
	client *s3.Client
	http   aws.HTTPClient
}

func (a amazon) keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		pages := s3.NewListObjectsV2Paginator(a.client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield("", err)
				return
			}
			for _, object := range page.Contents {
				if object.Key != nil && !yield(*object.Key, nil) {
					return
				}
			}
		}
	}
}

func (a amazon) read(ctx context.Context, bucket, key, version string) (io.ReadCloser, error) {
	if key == "" {
		return nil, errors.New("the address names a bucket and no object")
	}
	request := &s3.GetObjectInput{Bucket: &bucket, Key: &key}
	if version != "" {
		request.VersionId = &version
	}
	object, err := a.client.GetObject(ctx, request)
	if err != nil {
		return nil, err
	}
	return object.Body, nil
}

func (a amazon) close() {
	if client, ok := a.http.(*http.Client); ok {
		client.CloseIdleConnections()
	}
}
