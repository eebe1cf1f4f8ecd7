// Package bucket reads objects of Amazon S3 and compatible services, and of Google Cloud Storage:
//
//	services := &bucket.Services{Environ: os.Environ()}
//	defer services.Close()
//	objects, err := services.Open(ctx, "s3", address, false)
//	defer objects.Close()
//	for key, err := range objects.Keys(ctx) { ... }
//	body, err := objects.Read(ctx, objects.Key)
//
// Addresses are those that Terraform supports. Each names a bucket, and the key of an object or a
// prefix of keys:
//
//	s3   https://s3.amazonaws.com/BUCKET/KEY, https://s3-REGION.amazonaws.com/BUCKET/KEY,
//	     https://BUCKET.s3-REGION.amazonaws.com/KEY, https://BUCKET.s3.REGION.amazonaws.com/KEY;
//	     any other host is an endpoint with path-style requests: https://HOST/BUCKET/KEY
//	gcs  https://www.googleapis.com/storage/v1/BUCKET/KEY; #GENERATION selects a generation
//
// Parameters of s3 are version (of the object), aws_profile, aws_access_key_id,
// aws_access_key_secret, aws_access_token, and region for an endpoint.
//
// # Credentials
//
// The AWS SDK finds the credentials of s3: in the environment, in the profile of the shared files (SSO, sign-in sessions, other roles,
// programs), by web identity, from the container or from the machine. For gcs they are the access token in GOOGLE_OAUTH_ACCESS_TOKEN, or
// Google's application default credentials; without any, requests are anonymous, which is enough for public objects. One [Services] finds
// them once for all objects.
//
// An address that isn't the user's own can't choose credentials: its profile is ignored, and requests to its endpoint are anonymous,
// unless the address has keys itself, or the user's environment or profile names that endpoint, too. Credentials of gcs are sent only to
// Google's own server, whoever wrote the address.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tfdeps/tfdeps/internal/awslogin"
	"github.com/tfdeps/tfdeps/internal/googlestorage"
	"github.com/tfdeps/tfdeps/internal/par"
)

// ErrAddress says that a URL isn't an address of an object.
var ErrAddress = errors.New("this is not the address of an object")

// Services opens buckets. The zero value works; set the fields before the first call, and don't copy
// it. Many goroutines may use it.
type Services struct {
	// Client is for gcs; nil means hosts.DefaultClient. The AWS SDK has its own client, which
	// supports AWS_CA_BUNDLE.
	Client *http.Client
	// Environ has AWS_METADATA_URL, GOOGLE_OAUTH_ACCESS_TOKEN, GOOGLE_CLOUD_QUOTA_PROJECT, and
	// STORAGE_EMULATOR_HOST, in the form of os.Environ. The AWS SDK and Google's library read all
	// other variables from the process's environment.
	Environ []string

	configs par.Memo[awslogin.Login, aws.Config]
	google  googlestorage.Login
}

// Close waits for running requests for credentials. Call it after the last use.
func (s *Services) Close() {
	s.configs.Settle()
	s.google.Settle()
}

// Open returns the objects of an address. It requests no object, but may request credentials. kind is "s3" or "gcs"; own
// says that the user wrote the address. Errors of the address match ErrAddress.
func (s *Services) Open(ctx context.Context, kind string, at *url.URL, own bool) (Objects, error) {
	switch kind {
	case "s3":
		return s.openS3(ctx, at, own)
	case "gcs":
		return s.openGCS(at)
	}
	return Objects{}, fmt.Errorf("%w: no service is called %q", ErrAddress, kind)
}

// Objects are the objects of a bucket whose keys begin with Key, or the object with this key.
type Objects struct {
	Key     string
	bucket  string
	version string // of the object with Key; "" means the latest
	service interface {
		keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error]
		read(ctx context.Context, bucket, key, version string) (io.ReadCloser, error)
		close()
	}
}

// Close closes idle connections.
func (o Objects) Close() { o.service.close() }

// Keys lists the keys that begin with Key, in the service's order. It ends with the first error.
func (o Objects) Keys(ctx context.Context) iter.Seq2[string, error] {
	return o.service.keys(ctx, o.bucket, o.Key)
}

// Read returns the content of an object. The address's version applies to Key only. Errors about an
// answer have a method HTTPStatusCode() int. The caller must close the body.
func (o Objects) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	if key == "" {
		return nil, errors.New("the address names a bucket and no object")
	}
	version := ""
	if key == o.Key {
		version = o.version
	}
	return o.service.read(ctx, o.bucket, key, version)
}

// openGCS reads https://www.googleapis.com/storage/v1/BUCKET/KEY#GENERATION.
func (s *Services) openGCS(u *url.URL) (Objects, error) {
	parts := strings.SplitN(u.Path, "/", 5)
	if !strings.HasSuffix(u.Host, ".googleapis.com") || strings.Count(u.Host, ".") != 2 || len(parts) < 5 {
		return Objects{}, fmt.Errorf("%w: gcs knows www.googleapis.com/storage/v1/BUCKET/KEY", ErrAddress)
	}
	if u.Fragment != "" {
		if _, err := strconv.ParseInt(u.Fragment, 10, 64); err != nil {
			return Objects{}, fmt.Errorf("%w: the generation %q of a gcs object is not a number", ErrAddress, u.Fragment)
		}
	}
	return Objects{Key: parts[4], bucket: parts[3], version: u.Fragment,
		service: cloudStorage{googlestorage.Client{HTTP: s.Client, Environ: s.Environ, Login: &s.google}}}, nil
}

// cloudStorage is the JSON API of Google Cloud Storage.
type cloudStorage struct{ client googlestorage.Client }

func (c cloudStorage) close() {}

func (c cloudStorage) keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		of := googlestorage.Listing{Bucket: bucket, Prefix: prefix, Fields: "name", URL: "https://www.googleapis.com" + googlestorage.ObjectPath(bucket, ""),
			Malformed: "the list of objects that %s answered with: %w"}
		for object, err := range googlestorage.List[struct{ Name string }](ctx, c.client, of) {
			if !yield(object.Name, err) {
				return
			}
		}
	}
}

func (c cloudStorage) read(ctx context.Context, bucket, key, version string) (io.ReadCloser, error) {
	query := url.Values{"alt": {"media"}}
	if version != "" {
		query.Set("generation", version)
	}
	resp, err := c.client.Do(ctx, googlestorage.Request{Path: googlestorage.ObjectPath(bucket, key), Query: query})
	if err != nil {
		return nil, err
	}
	return googlestorage.Checked(resp), nil
}
