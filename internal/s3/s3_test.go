package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/blob/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a bucket of a service at an endpoint.
func open(t *testing.T, endpoint, bucket, secret string) blob.Bucket {
	t.Helper()
	return blob.Sub(connect(t, endpoint, bucket, secret), "")
}

func connect(t *testing.T, endpoint, bucket, secret string) *bucket {
	t.Helper()
	return must.Get(newBucket(t.Context(), Options{Bucket: bucket, Region: storagetest.VersityRegion, Endpoint: endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(storagetest.VersityID, secret, "")}))(t)
}

func opened(t *testing.T, address string) blob.Bucket {
	t.Helper()
	return must.Get(Open(t.Context(), must.Get(url.Parse(address))(t)))(t)
}

func write(t *testing.T, b blob.Bucket, opts blob.PutOptions) (blob.Info, error) {
	return b.Put(t.Context(), "key", blob.Bytes([]byte("x")), opts)
}

func TestBucket_IsOneAtARealServer(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("bucket%d", i))
	}
	server := storagetest.StartVersity(t, names...)
	var next atomic.Int64
	blobtest.Run(t, func(t *testing.T) blob.Bucket {
		return open(t, server.Endpoint, names[next.Add(1)-1], storagetest.VersitySecret)
	})
}

func TestBucket_SaysWhyTheServiceRefuses(t *testing.T) {
	t.Parallel()
	server := storagetest.StartVersity(t, "bucket")
	for name, test := range map[string]struct {
		bucket, secret string
		want           error
	}{
		"wrong secret": {"bucket", "hunter23", hosts.ErrUnauthorized},
		"no bucket":    {"none", storagetest.VersitySecret, blob.ErrNoBucket},
	} {
		b := open(t, server.Endpoint, test.bucket, test.secret)
		_, get := b.Get(t.Context(), "key", blob.GetOptions{})
		_, put := write(t, b, blob.PutOptions{})
		var list error
		for _, list = range b.List(t.Context(), "") {
			break
		}
		for _, err := range []error{get, put, list} {
			if !errors.Is(err, test.want) || errors.Is(err, blob.ErrNotFound) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("%s: %v", name, err)
			}
			must.Equal(t, strings.Contains(hintOf(err), "s3:ListBucket"), (test.want == hosts.ErrUnauthorized), "the hint", name)
		}
		must.Equal(t, b.Close(), nil)
	}
}

func hintOf(err error) string {
	if refused, ok := errors.AsType[*getproviders.Fault](err); ok {
		return refused.Hint
	}
	return ""
}

func TestBucket_SaysThatThereAreNoCredentials(t *testing.T) {
	t.Parallel()
	b := must.Get(New(t.Context(), Options{Bucket: "bucket", Region: "r", Endpoint: "http://x.example", Credentials: aws.CredentialsProviderFunc(
		func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("none of these") })}))(t)
	_, err := b.Stat(t.Context(), "key")
	must.Fail(t, err, hosts.ErrUnauthorized)
	must.Contain(t, err, "none of these")
	must.Contain(t, hintOf(err), "AWS_ACCESS_KEY_ID")
	must.Equal(t, b.Close(), nil)
}

// TestBucket_IsReadWithoutCredentials has a bucket with public objects.
func TestBucket_IsReadWithoutCredentials(t *testing.T) {
	t.Parallel()
	server := storagetest.StartVersity(t, "bucket")
	b := connect(t, server.Endpoint, "bucket", storagetest.VersitySecret)
	defer b.Close()
	must.Get(b.Put(t.Context(), "pre/fix/key", blob.Bytes([]byte("content")), blob.PutOptions{}))(t)
	read := func() error {
		public := opened(t, "s3://bucket/pre/fix?anonymous=true&region="+storagetest.VersityRegion+"&endpoint="+server.Endpoint)
		defer public.Close()
		content, _, err := blob.ReadAll(t.Context(), public, "key", 100)
		if err == nil && string(content) != "content" {
			t.Errorf("%q", content)
		}
		return err
	}
	must.Fail(t, read(), hosts.ErrUnauthorized, "of a private bucket")
	policy := `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::bucket/*"}]}`
	must.Get(b.client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &b.name, Policy: &policy}))(t)
	must.Equal(t, read(), nil)
}

// TestBucket_EndpointTellsBucketsOfOneNameApart: buckets of Amazon's main partition have no
// endpoint.
func TestBucket_EndpointTellsBucketsOfOneNameApart(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	for _, c := range []struct{ url, environment, want string }{
		{"s3://company/p?region=eu-west-1", "", "s3://company/p"},
		{"s3://company?region=ap-southeast-2", "", "s3://company"},
		{"s3://company/p?region=cn-north-1", "", "s3://company/p?endpoint=https://s3.cn-north-1.amazonaws.com.cn"},
		{"s3://company/p?region=us-gov-west-1", "", "s3://company/p?endpoint=https://s3.us-gov-west-1.amazonaws.com"},
		{"s3://company/p?region=eusc-de-east-1", "", "s3://company/p?endpoint=https://s3.eusc-de-east-1.amazonaws.eu"},
		{"s3://company/p?endpoint=https://minio.example:9000", "", "s3://company/p?endpoint=https://minio.example:9000"},
		{"s3://company/p?region=eu-west-1", "https://minio.example", "s3://company/p?endpoint=https://minio.example"},
		{"s3://company/p?region=eu-west-1", "https://me:hunter2@minio.example/?x&endpoint=https://good.example#y", "s3://company/p?endpoint=https://minio.example/%3FREDACTED%26endpoint%3DREDACTED"},
	} {
		t.Setenv("AWS_ENDPOINT_URL_S3", c.environment)
		b := opened(t, c.url)
		must.Equal(t, buckets.SourceURL(b, ""), c.want, c.url, c.environment)
		_ = b.Close()
	}
}

func TestParse_ReadsTheParametersOfURLs(t *testing.T) {
	t.Parallel()
	yes := true
	for text, want := range map[string]Options{
		"s3://bkt/p":                      {Bucket: "bkt"},
		"s3://bkt/p?region=eu-west-1":     {Bucket: "bkt", Region: "eu-west-1"},
		"s3://bkt/p?profile=x":            {Bucket: "bkt", Profile: "x"},
		"s3://bkt/p?anonymous=true":       {Bucket: "bkt", Anonymous: true},
		"s3://bkt/p?path-style=true":      {Bucket: "bkt", PathStyle: &yes},
		"s3://bkt/p?endpoint=http://h:90": {Bucket: "bkt", Endpoint: "http://h:90"},
	} {
		got, prefix, err := parse(must.Get(url.Parse(text))(t))
		if got.PathStyle != nil && want.PathStyle != nil && *got.PathStyle == *want.PathStyle {
			got.PathStyle = want.PathStyle
		}
		if err != nil || prefix != "p" || got != want {
			t.Errorf("%s: %+v, %q, %v; want %+v", text, got, prefix, err, want)
		}
	}
	for _, query := range []string{"endpoint=minio.example.com", "endpoint=https://id:hunter2@h", "path-style=maybe", "anonymous=", "secret=hunter2", "region=a&region=b"} {
		err := must.ErrorOf(Open(t.Context(), must.Get(url.Parse("s3://bkt/p?"+query))(t)))
		must.Fail(t, err, buckets.ErrURL, query)
		must.NotContain(t, err.Error(), "hunter", query)
	}
}

// fake sends the next response for each request.
func fake(t *testing.T, answers ...func(w http.ResponseWriter, r *http.Request)) (blob.Bucket, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(asked.Add(1)), len(answers))-1](w, r)
	})}))(t)
	t.Cleanup(server.Close)
	b := open(t, server.BaseURL(), "bucket", "secret")
	t.Cleanup(func() { _ = b.Close() })
	return b, &asked
}

func refusing(status int, code string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>said</Message></Error>", code)
	}
}

// S3's response to two concurrent requests for one object doesn't tell whether the condition is
// met.
func TestPut_WritesAgainAfterAConflict(t *testing.T) {
	t.Parallel()
	conflict := refusing(http.StatusConflict, "ConditionalRequestConflict")
	b, asked := fake(t, conflict, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("ETag", `"tag"`) })
	info, err := write(t, b, blob.PutOptions{IfAbsent: true})
	if err != nil || info.Tag != `"tag"` || asked.Load() != 2 {
		t.Errorf("%+v, %v after %d requests", info, err, asked.Load())
	}
	b, asked = fake(t, conflict)
	_, err = write(t, b, blob.PutOptions{IfMatch: "tag"})
	must.Fail(t, err, blob.ErrChanged)
	must.Equal(t, asked.Load(), conflicts)
}

func TestPut_SaysThatTheServiceHasNoConditions(t *testing.T) {
	t.Parallel()
	b, _ := fake(t, refusing(http.StatusNotImplemented, "NotImplemented"))
	_, err := write(t, b, blob.PutOptions{IfMatch: "tag"})
	must.Fail(t, err, blob.ErrUnsupported)
}

// If a service ignores ranges, the beginning of an archive must not be taken for its end.
func TestGet_RefusesAnotherPart(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", "bytes 0-4/10", "bytes 5-9/*", "bytes 50-99/100"} {
		b, _ := fake(t, func(w http.ResponseWriter, r *http.Request) {
			if part != "" {
				w.Header().Set("Content-Range", part)
			}
			fmt.Fprint(w, "01234")
		})
		must.Refuse(b.Get(t.Context(), "key", blob.GetOptions{Offset: 5}))(t, part)
	}
}

func TestList_ReadsAllPages(t *testing.T) {
	t.Parallel()
	page := func(next string, keys ...string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "<ListBucketResult><IsTruncated>%t</IsTruncated><NextContinuationToken>%s</NextContinuationToken>", next != "", next)
			for _, key := range keys {
				fmt.Fprintf(w, "<Contents><Key>%s</Key><Size>1</Size></Contents>", key)
			}
			fmt.Fprint(w, "</ListBucketResult>")
		}
	}
	b, asked := fake(t, page("2", "a", "dir/"), page("3", "b"), page("", "c"))
	var keys []string
	for info, err := range b.List(t.Context(), "") {
		must.Succeed(t, err)
		keys = append(keys, info.Key)
	}
	must.Equal(t, strings.Join(keys, " "), "a b c")
	must.Equal(t, asked.Load(), 3)
}

// TestList_Ends has a page that links to itself.
func TestList_Ends(t *testing.T) {
	t.Parallel()
	b, asked := fake(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken><Contents><Key>a</Key></Contents></ListBucketResult>")
	})
	var last error
	for _, last = range b.List(t.Context(), "dir/") {
		if asked.Load() > 20 {
			break
		}
	}
	must.Fail(t, last, hosts.ErrPages)
	must.Contain(t, last, "s3://bucket/dir/")
	must.Equal(t, asked.Load(), 2)
}

// FuzzList reads a page of a list, which may link to itself: the list ends, and each key is a valid
// one.
func FuzzList(f *testing.F) {
	f.Add([]byte(`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken><Contents><Key>a/b</Key><Size>1</Size></Contents><Contents><Key>../x</Key></Contents></ListBucketResult>`))
	f.Add([]byte(`<ListBucketResult><Contents><Key/><LastModified>x</LastModified></Contents>`))
	b := must.Get(newBucket(f.Context(), Options{Bucket: "bucket", Region: "r", Endpoint: "http://x.example", Anonymous: true}))(f)
	f.Fuzz(func(t *testing.T, page []byte) {
		b := *b
		b.client = s3.New(b.client.Options(), func(o *s3.Options) {
			o.HTTPClient, o.Retryer = storagetest.Answers(page), aws.NopRetryer{}
		})
		for info, err := range blob.Sub(&b, "").List(t.Context(), "") {
			if err == nil && blob.CheckKey(info.Key) != nil {
				t.Errorf("%q", info.Key)
			}
		}
	})
}

// TestPut_EncodesNothing writes to a service other than Amazon's: the service receives the object's unchanged bytes,
// which it may store and serve.
func TestPut_EncodesNothing(t *testing.T) {
	t.Parallel()
	server := storagetest.StartVersity(t, "bucket")
	puts := 0
	client := &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut {
			puts++
			if got := r.Header.Get("Content-Encoding"); got != "" || r.ContentLength != 7 {
				return nil, errors.New("it is encoded as " + got)
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	b := must.Get(New(t.Context(), Options{Bucket: "bucket", Region: storagetest.VersityRegion, Endpoint: server.Endpoint, Client: client,
		Credentials: credentials.NewStaticCredentialsProvider(storagetest.VersityID, storagetest.VersitySecret, "")}))(t)
	must.Get(b.Put(t.Context(), "a.zip", blob.Bytes([]byte("archive")), blob.PutOptions{ContentType: "application/zip"}))(t)
	must.Equal(t, puts, 1, "written times")
}
