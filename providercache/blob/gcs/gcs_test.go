package gcs

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	googleoauth "golang.org/x/oauth2/google"

	"github.com/tfdeps/tfdeps/getproviders/googlestorage"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/blob/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a fake of Google Cloud Storage's JSON API, made from its description. It has one bucket, "bucket", and lists three objects on a page.
type fake struct {
	mu         sync.Mutex
	generation int64
	objects    map[string]fakeObject
	damage     bool // what it sends
	requests   []*http.Request
}

type fakeObject struct {
	resource
	content []byte
}

func start(t *testing.T) (*fake, *Bucket) {
	t.Helper()
	f := &fake{objects: map[string]fakeObject{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /storage/v1/b/bucket/o", f.list)
	mux.HandleFunc("GET /storage/v1/b/bucket/o/{key}", f.get)
	mux.HandleFunc("DELETE /storage/v1/b/bucket/o/{key}", f.delete)
	mux.HandleFunc("POST /upload/storage/v1/b/bucket/o", f.put)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, 404, "The specified bucket does not exist.") })
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.requests = append(f.requests, r)
		mux.ServeHTTP(w, r)
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return f, New(Options{Bucket: "bucket", Client: client, Environ: []string{"STORAGE_EMULATOR_HOST=" + server.BaseURL()}})
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%d,"message":%q}}`, status, message)
}

// unmet answers a request whose condition isn't met.
func (f *fake) unmet(w http.ResponseWriter, r *http.Request, key string) bool {
	want := r.FormValue("ifGenerationMatch")
	found, ok := f.objects[key]
	if want == "" || ok && want == found.Generation || !ok && want == "0" {
		return false
	}
	refuse(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
	return true
}

func (f *fake) get(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	found, ok := f.objects[key]
	if f.unmet(w, r, key) {
		return
	}
	if !ok {
		refuse(w, 404, "No such object: bucket/"+key)
		return
	}
	if r.FormValue("alt") != "media" {
		_ = json.NewEncoder(w).Encode(found.resource)
		return
	}
	w.Header().Set("Content-Type", found.ContentType)
	w.Header().Set("Cache-Control", found.CacheControl)
	w.Header().Set("X-Goog-Generation", found.Generation)
	w.Header().Set("X-Goog-Hash", "crc32c="+sumOf(found.content))
	content := slices.Clone(found.content)
	if f.damage {
		content[0]++
	}
	http.ServeContent(w, r, "", found.Updated, strings.NewReader(string(content)))
}

func sumOf(content []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))))
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	var keys []string
	for key := range f.objects {
		if strings.HasPrefix(key, r.FormValue("prefix")) && key > r.FormValue("pageToken") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	page := map[string]any{}
	if len(keys) > 3 {
		keys = keys[:3]
		page["nextPageToken"] = keys[2]
	}
	var items []resource
	for _, key := range keys {
		items = append(items, f.objects[key].resource)
	}
	page["items"] = items
	_ = json.NewEncoder(w).Encode(page)
}

func (f *fake) delete(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	if _, ok := f.objects[key]; !ok {
		refuse(w, 404, "No such object: bucket/"+key)
		return
	}
	delete(f.objects, key)
	w.WriteHeader(http.StatusNoContent)
}

func (f *fake) put(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.URL.Query().Get("uploadType") != "multipart" {
		refuse(w, 400, "no parts")
		return
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	var texts [][]byte
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(part)
		}
		if err != nil {
			refuse(w, 400, err.Error())
			return
		}
		texts = append(texts, text)
	}
	var described struct {
		resource
		CRC32C string
	}
	if len(texts) != 2 || json.Unmarshal(texts[0], &described) != nil || described.CRC32C != sumOf(texts[1]) {
		refuse(w, 400, "Provided CRC32C doesn't match")
		return
	}
	query, _ := url.ParseQuery(r.URL.RawQuery)
	r.Form = query
	if f.unmet(w, r, described.Name) {
		return
	}
	f.generation++
	described.Generation, described.Size, described.Updated = strconv.FormatInt(f.generation, 10), int64(len(texts[1])), time.Now()
	f.objects[described.Name] = fakeObject{described.resource, texts[1]}
	_ = json.NewEncoder(w).Encode(described.resource)
}

func TestBucket_IsOneAtAFake(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket {
		_, b := start(t)
		return b
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
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, 403, "denied")
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	b.client.Environ = []string{"STORAGE_EMULATOR_HOST=" + server.BaseURL()}
	if _, err := b.Stat(t.Context(), "key"); !errors.Is(err, blob.ErrUnauthorized) || !strings.Contains(err.Error(), "denied") {
		t.Errorf("no access: %v", err)
	}
}

func TestGet_NoticesWhatChangedOnItsWay(t *testing.T) {
	t.Parallel()
	f, b := start(t)
	if _, err := b.Put(t.Context(), "key", blob.Bytes([]byte("content")), blob.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	f.damage = true
	if content, _, err := blob.ReadAll(t.Context(), b, "key", 100); !errors.Is(err, googlestorage.ErrDamaged) {
		t.Errorf("%q, %v", content, err)
	}
}

func TestOpener_SendsTheTokenOfTheEnvironment(t *testing.T) {
	t.Parallel()
	var login, host string
	opener := Opener{Environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=tok"}, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		login, host = r.Header.Get("Authorization"), r.URL.Host
		return &http.Response{StatusCode: 404, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})}}
	u, err := url.Parse("gs://bucket/pre/fix")
	if err != nil {
		t.Fatal(err)
	}
	b, err := opener.Open(t.Context(), u)
	if err != nil || b.String() != "gs://bucket/pre/fix" {
		t.Fatalf("%v, %v", b, err)
	}
	_, err = b.Stat(t.Context(), "key")
	if !errors.Is(err, blob.ErrNotFound) || login != "Bearer tok" || host != "storage.googleapis.com" {
		t.Errorf("%v; %s was sent to %s", err, login, host)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestBucket_AsksForATokenThatMayWrite(t *testing.T) {
	t.Parallel()
	b := New(Options{Bucket: "bucket"})
	var asked []string
	b.client.Login.Find = func(_ context.Context, scopes ...string) (*googleoauth.Credentials, error) {
		asked = scopes
		return nil, errors.New("none of these")
	}
	if _, err := b.Stat(t.Context(), "key"); err == nil || !strings.Contains(err.Error(), "none of these") {
		t.Error(err)
	}
	if !slices.Equal(asked, []string{googlestorage.ReadWrite}) {
		t.Errorf("it asked for %q", asked)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
