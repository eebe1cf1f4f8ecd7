package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/awslogin"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// domainsOfAWS are the domains of AWS partitions. Their hosts have the region, and sometimes the bucket, in their
// names.
var domainsOfAWS = []string{"amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "c2s.ic.gov", "sc2s.sgov.gov", "cloud.adc-e.uk", "csp.hci.ic.gov"}

// s3Address is a parsed address.
type s3Address struct {
	bucket, key, version string
	endpoint             string // "" means AWS
	region               string
	login                awslogin.Login
}

// parseS3 reads a URL in one of the forms in the package comment. It ignores the profile unless own says that the user wrote the
// address.
func parseS3(u *url.URL, own bool) (s3Address, error) {
	var at s3Address
	var err error
	query := u.Query()
	if domain := domainOfAWS(u.Host); domain != "" {
		at, err = parseAWS(strings.Split(strings.TrimSuffix(u.Host, domain), "."), u.Path)
	} else {
		at.bucket, at.key, err = splitPath(u.Path)
		at.endpoint = u.Scheme + "://" + u.Host
		at.region = cmp.Or(query.Get("region"), "us-east-1")
	}
	if err != nil {
		return s3Address{}, err
	}
	at.version = query.Get("version")
	if profile := query.Get("aws_profile"); own && profile != "" {
		at.login = awslogin.Login{Profile: profile} // the profile has all of these
		return at, nil
	}
	at.login = awslogin.Login{
		Region: at.region,
		Static: query.Has("aws_access_key_id") || query.Has("aws_access_key_secret") || query.Has("aws_access_token"),
		ID:     query.Get("aws_access_key_id"),
		Secret: query.Get("aws_access_key_secret"),
		Token:  query.Get("aws_access_token"),
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

// parseAWS reads the host's labels before AWS's domain, the last of which is empty, and a path.
func parseAWS(labels []string, path string) (at s3Address, err error) {
	switch len(labels) {
	case 2: // s3, s3-REGION
		at.region = cmp.Or(regionOf(labels[0]), "us-east-1")
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

func (s *Services) openS3(ctx context.Context, u *url.URL, own bool) (Objects, error) {
	at, err := parseS3(u, own)
	if err != nil {
		return Objects{}, err
	}
	at.login.Metadata = subprocess.Variable(s.Environ, "AWS_METADATA_URL")
	found, err := s.load(ctx, at.login)
	if err == nil && !own && at.endpoint != "" && !at.login.Static && !isConfigured(found, u) {
		at.login = awslogin.Login{Region: at.region, Anonymous: true}
		found, err = s.load(ctx, at.login)
	}
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
	return Objects{Key: at.key, bucket: at.bucket, version: at.version,
		service: amazon{client, found, strings.TrimSuffix(at.endpoint, "/"), at.login.Anonymous}}, nil
}

func (s *Services) load(ctx context.Context, login awslogin.Login) (aws.Config, error) {
	return s.configs.Do(ctx, login, func(ctx context.Context) (aws.Config, error) { return awslogin.Load(ctx, login) })
}

// isConfigured reports whether the user's environment or profile names the URL's server as the endpoint
// of S3.
func isConfigured(found aws.Config, u *url.URL) bool {
	configured, err := url.Parse(aws.ToString(s3.NewFromConfig(found).Options().BaseEndpoint))
	return err == nil && hosts.SameOrigin(configured, u)
}

// amazon is S3 or a compatible service.
type amazon struct {
	client    *s3.Client
	config    aws.Config
	endpoint  string // "" means AWS
	anonymous bool   // without the user's credentials
}

func (a amazon) keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error] {
	pages := s3.NewListObjectsV2Paginator(a.client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	return hosts.List(cmp.Or(a.endpoint, "https://s3.amazonaws.com")+"/"+bucket, func(string) (keys []string, next string, err error) {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, "", a.explained(err)
		}
		for _, object := range page.Contents {
			keys = append(keys, aws.ToString(object.Key))
		}
		if pages.HasMorePages() {
			next = *page.NextContinuationToken
		}
		return keys, next, nil
	})
}

func (a amazon) read(ctx context.Context, bucket, key, version string) (io.ReadCloser, error) {
	request := &s3.GetObjectInput{Bucket: &bucket, Key: &key}
	if version != "" {
		request.VersionId = &version
	}
	object, err := a.client.GetObject(ctx, request)
	if err != nil {
		return nil, a.explained(err)
	}
	return object.Body, nil
}

// explained adds a hint to the error of a refused request that had no credentials.
func (a amazon) explained(err error) error {
	var answer interface{ HTTPStatusCode() int }
	if !a.anonymous || !errors.As(err, &answer) || !hosts.Refuses(answer.HTTPStatusCode()) {
		return err
	}
	return &getproviders.Fault{
		Err:  fmt.Errorf("%w (no credentials were sent, because the server's name comes from a registry or from a module that isn't yours)", err),
		Hint: fmt.Sprintf("if %s is your own server, set AWS_ENDPOINT_URL_S3 to it: then your credentials are sent there", a.endpoint),
	}
}

func (a amazon) close() { awslogin.Close(a.config) }
