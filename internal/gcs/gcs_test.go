package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"go.uber.org/goleak"
	googleoauth "golang.org/x/oauth2/google"

	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/googlestorage"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/blob/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) (*storagetest.GCS, *bucket) {
	t.Helper()
	f := storagetest.StartGCS(t)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return f, Opener{client, []string{f.Variable()}}.bucket("bucket")
}

// emulated starts a service, and returns the environment with its address.
func emulated(t *testing.T, handler http.HandlerFunc) []string {
	t.Helper()
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: handler}))(t)
	t.Cleanup(server.Close)
	return []string{"STORAGE_EMULATOR_HOST=" + server.BaseURL()}
}

func TestBucket_IsOneAtAFake(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket {
		_, b := start(t)
		return blob.Sub(b, "")
	})
}

func TestBucket_SaysWhyTheServiceRefuses(t *testing.T) {
	t.Parallel()
	_, b := start(t)
	b.name = "none"
	_, get := b.Get(t.Context(), "key", blob.GetOptions{})
	_, stat := b.Stat(t.Context(), "key")
	_, put := b.Put(t.Context(), "key", blob.Bytes([]byte("x")), blob.PutOptions{})
	var list error
	for _, list = range b.List(t.Context(), "") {
		break
	}
	for _, err := range []error{get, stat, put, list} {
		if !errors.Is(err, blob.ErrNoBucket) || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("no bucket: %v", err)
		}
	}
	b.client.Environ = emulated(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"code":403,"message":"denied"}}`, http.StatusForbidden)
	})
	err := must.ErrorOf(b.Stat(t.Context(), "key"))
	must.Fail(t, err, hosts.ErrUnauthorized, "no access")
	must.Contain(t, err, "denied", "no access")
}

func TestGet_NoticesWhatChangedOnItsWay(t *testing.T) {
	t.Parallel()
	f, b := start(t)
	must.Get(b.Put(t.Context(), "key", blob.Bytes([]byte("content")), blob.PutOptions{}))(t)
	f.Damage.Store(true)
	must.Fail(t, must.ErrorOf(blob.ReadAll(t.Context(), b, "key", 100)), googlestorage.ErrDamaged)
}

func TestOpener_SendsTheTokenOfTheEnvironment(t *testing.T) {
	t.Parallel()
	var login, host string
	opener := Opener{Environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=tok"}, Client: &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		login, host = r.Header.Get("Authorization"), r.URL.Host
		return &http.Response{StatusCode: 404, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})}}
	b := must.Get(opener.Open(t.Context(), &url.URL{Scheme: "gs", Host: "bucket", Path: "/pre/fix"}))(t)
	must.Equal(t, b.String(), "gs://bucket/pre/fix", b)
	_, err := b.Stat(t.Context(), "key")
	must.Fail(t, err, blob.ErrNotFound)
	_, err = b.Put(t.Context(), "key", blob.Bytes(nil), blob.PutOptions{})
	must.Fail(t, err, blob.ErrNoBucket)
	must.Equal(t, errors.Is(err, blob.ErrNotFound), false, "a bucket that isn't there is an object that isn't")
	must.Equal(t, login, "Bearer tok")
	must.Equal(t, host, "storage.googleapis.com")
	must.Equal(t, b.Close(), nil)
}

func TestBucket_EndpointIsThatOfAnEmulator(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]string{"A=b": "gs://company", "STORAGE_EMULATOR_HOST=evil.example:4443": "gs://company?endpoint=http://evil.example:4443"} {
		must.Equal(t, buckets.SourceURL(Opener{Environ: []string{environ}}.bucket("company"), ""), want, environ)
	}
}

func TestBucket_AsksForATokenThatMayWrite(t *testing.T) {
	t.Parallel()
	b := Opener{}.bucket("bucket")
	var asked []string
	b.client.Login.Find = func(_ context.Context, scopes ...string) (*googleoauth.Credentials, error) {
		asked = scopes
		return nil, errors.New("none of these")
	}
	must.Contain(t, must.ErrorOf(b.Stat(t.Context(), "key")), "none of these")
	must.EqualSlices(t, asked, []string{googlestorage.ReadWrite}, "it asked for")
	must.Equal(t, b.Close(), nil)
}

// TestList_Ends has a page that links to itself.
func TestList_Ends(t *testing.T) {
	t.Parallel()
	asked := 0
	environ := emulated(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		fmt.Fprint(w, `{"items": [{"name": "a", "size": "1"}], "nextPageToken": "1"}`)
	})
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	b := blob.Sub(Opener{client, environ}.bucket("bucket"), "")
	var last error
	for _, last = range b.List(t.Context(), "dir/") {
		if asked > 20 {
			break
		}
	}
	must.Fail(t, last, hosts.ErrPages)
	must.Contain(t, last, "gs://bucket/dir/")
	must.Equal(t, asked, 2)
}

// FuzzList reads a page of a list, which may link to itself: the list ends, and each key is a valid
// one.
func FuzzList(f *testing.F) {
	f.Add([]byte(`{"items": [{"name": "a/b", "size": "1", "generation": "7", "updated": "2026-01-01T00:00:00Z"}, {"name": "../x"}], "nextPageToken": "t"}`))
	f.Add([]byte(`{"items": [{"name": "", "size": -1}]}`))
	f.Fuzz(func(t *testing.T, page []byte) {
		b := blob.Sub(Opener{storagetest.Answers(page), []string{"STORAGE_EMULATOR_HOST=http://x.example"}}.bucket("bucket"), "")
		for info, err := range b.List(t.Context(), "") {
			if err == nil && blob.CheckKey(info.Key) != nil {
				t.Errorf("%q", info.Key)
			}
		}
	})
}
