package s3

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/blob/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a bucket of a service at an endpoint.
func open(t *testing.T, endpoint, bucket, secret string) *Bucket {
	t.Helper()
	b, err := New(t.Context(), Options{Bucket: bucket, Region: blobtest.VersityRegion, Endpoint: endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(blobtest.VersityID, secret, "")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBucket_IsOneAtARealServer(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("bucket%d", i))
	}
	server := blobtest.StartVersity(t, names...)
	var next atomic.Int64
	blobtest.Run(t, func(t *testing.T) blob.Bucket {
		return open(t, server.Endpoint, names[next.Add(1)-1], blobtest.VersitySecret)
	})
}

func TestBucket_SaysWhyTheServiceRefuses(t *testing.T) {
	t.Parallel()
	server := blobtest.StartVersity(t, "bucket")
	for name, test := range map[string]struct {
		bucket, secret string
		want           error
	}{
		"wrong secret": {"bucket", "hunter23", blob.ErrUnauthorized},
		"no bucket":    {"none", blobtest.VersitySecret, blob.ErrNoBucket},
	} {
		b := open(t, server.Endpoint, test.bucket, test.secret)
		_, get := b.Get(t.Context(), "key", blob.GetOptions{})
		_, put := b.Put(t.Context(), "key", blob.Bytes([]byte("x")), blob.PutOptions{})
		var list error
		for _, list = range b.List(t.Context(), "") {
			break
		}
		for _, err := range []error{get, put, list} {
			if !errors.Is(err, test.want) || errors.Is(err, blob.ErrNotFound) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParse_ReadsTheParametersOfURLs(t *testing.T) {
	t.Parallel()
	yes := true
	for text, want := range map[string]Options{
		"s3://b/p":                      {Bucket: "b"},
		"s3://b/p?region=eu-west-1":     {Bucket: "b", Region: "eu-west-1"},
		"s3://b/p?profile=x":            {Bucket: "b", Profile: "x"},
		"s3://b/p?anonymous=true":       {Bucket: "b", Anonymous: true},
		"s3://b/p?path-style=true":      {Bucket: "b", PathStyle: &yes},
		"s3://b/p?endpoint=http://h:90": {Bucket: "b", Endpoint: "http://h:90"},
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, prefix, err := parse(u)
		if got.PathStyle != nil && want.PathStyle != nil && *got.PathStyle == *want.PathStyle {
			got.PathStyle = want.PathStyle
		}
		if err != nil || prefix != "p" || got != want {
			t.Errorf("%s: %+v, %q, %v; want %+v", text, got, prefix, err, want)
		}
	}
	for _, query := range []string{"endpoint=minio.example.com", "endpoint=https://id:hunter2@h", "path-style=maybe", "anonymous=", "secret=hunter2", "region=a&region=b"} {
		u, err := url.Parse("s3://b/p?" + query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), u); !errors.Is(err, blob.ErrURL) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// fake answers each request with the next answer.
func fake(t *testing.T, answers ...func(w http.ResponseWriter, r *http.Request)) (*Bucket, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(asked.Add(1)), len(answers))-1](w, r)
	})})
	if err != nil {
		t.Fatal(err)
	}
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

// What a service answers while two requests about one object are under way is no answer to whether the condition is met.
func TestPut_WritesAgainAfterAConflict(t *testing.T) {
	t.Parallel()
	conflict := refusing(http.StatusConflict, "ConditionalRequestConflict")
	b, asked := fake(t, conflict, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("ETag", `"tag"`) })
	info, err := b.Put(t.Context(), "key", blob.Bytes([]byte("x")), blob.PutOptions{IfAbsent: true})
	if err != nil || info.Tag != `"tag"` || asked.Load() != 2 {
		t.Errorf("%+v, %v after %d requests", info, err, asked.Load())
	}
	b, asked = fake(t, conflict)
	_, err = b.Put(t.Context(), "key", blob.Bytes([]byte("x")), blob.PutOptions{IfMatch: "tag"})
	if !errors.Is(err, blob.ErrChanged) || asked.Load() != conflicts {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestPut_SaysThatTheServiceHasNoConditions(t *testing.T) {
	t.Parallel()
	b, _ := fake(t, refusing(http.StatusNotImplemented, "NotImplemented"))
	_, err := b.Put(t.Context(), "key", blob.Bytes([]byte("x")), blob.PutOptions{IfMatch: "tag"})
	if !errors.Is(err, blob.ErrUnsupported) {
		t.Error(err)
	}
}

// A service that ignores ranges would have the beginning of an archive taken for its end.
func TestGet_RefusesAnotherPart(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", "bytes 0-4/10", "bytes 5-9/*", "bytes 50-99/100"} {
		b, _ := fake(t, func(w http.ResponseWriter, r *http.Request) {
			if part != "" {
				w.Header().Set("Content-Range", part)
			}
			fmt.Fprint(w, "01234")
		})
		if object, err := b.Get(t.Context(), "key", blob.GetOptions{Offset: 5}); err == nil {
			t.Errorf("%q: %+v", part, object)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	if got := strings.Join(keys, " "); got != "a b c" || asked.Load() != 3 {
		t.Errorf("%q after %d requests", got, asked.Load())
	}
}
