// Package storagetest starts programs and servers with the protocols of S3, Google Cloud Storage and the services of
// backends.
package storagetest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
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
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// GCS is a fake of Google Cloud Storage's JSON API, made from its documentation. It has one bucket,
// "bucket", and lists three objects per page.
type GCS struct {
	URL    string      // http://127.0.0.1:PORT
	Damage atomic.Bool // sends changed content
	Log    func() []providertest.Request

	mu         sync.Mutex
	generation int64
	objects    map[string]gcsObject
}

type gcsObject struct {
	gcsResource
	content []byte
}

type gcsResource struct {
	Name         string    `json:"name"`
	Size         int64     `json:"size,string,omitempty"`
	Generation   string    `json:"generation,omitempty"`
	Updated      time.Time `json:"updated,omitzero"`
	ContentType  string    `json:"contentType,omitempty"`
	CacheControl string    `json:"cacheControl,omitempty"`
}

// StartGCS starts the fake, which ends with the test.
func StartGCS(t *testing.T) *GCS {
	t.Helper()
	f := &GCS{objects: map[string]gcsObject{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /storage/v1/b/bucket/o", f.list)
	mux.HandleFunc("GET /storage/v1/b/bucket/o/{key}", f.get)
	mux.HandleFunc("DELETE /storage/v1/b/bucket/o/{key}", f.delete)
	mux.HandleFunc("POST /upload/storage/v1/b/bucket/o", f.put)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuseGCS(w, 404, "The specified bucket does not exist.")
	})
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		mux.ServeHTTP(w, r)
	})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	f.URL, f.Log = server.BaseURL(), server.Log
	return f
}

// Variable returns the environment variable that makes programs use the fake.
func (f *GCS) Variable() string { return "STORAGE_EMULATOR_HOST=" + f.URL }

// Add stores an object of the bucket.
func (f *GCS) Add(name string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.store(gcsResource{Name: name}, content)
}

func (f *GCS) store(described gcsResource, content []byte) gcsResource {
	f.generation++
	described.Generation, described.Size, described.Updated = strconv.FormatInt(f.generation, 10), int64(len(content)), time.Now()
	f.objects[described.Name] = gcsObject{described, content}
	return described
}

func refuseGCS(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%d,"message":%q}}`, status, message)
}

// unmet responds to a request whose condition isn't met, and returns true.
func (f *GCS) unmet(w http.ResponseWriter, r *http.Request, key string) bool {
	want := r.FormValue("ifGenerationMatch")
	found, ok := f.objects[key]
	if want == "" || ok && want == found.Generation || !ok && want == "0" {
		return false
	}
	refuseGCS(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
	return true
}

func (f *GCS) get(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	found, ok := f.objects[key]
	if f.unmet(w, r, key) {
		return
	}
	if want := r.FormValue("generation"); !ok || want != "" && want != found.Generation {
		refuseGCS(w, 404, "No such object: bucket/"+key)
		return
	}
	if r.FormValue("alt") != "media" {
		_ = json.NewEncoder(w).Encode(found.gcsResource)
		return
	}
	w.Header().Set("Content-Type", found.ContentType)
	w.Header().Set("Cache-Control", found.CacheControl)
	w.Header().Set("X-Goog-Generation", found.Generation)
	w.Header()["X-Goog-Hash"] = []string{"crc32c=" + crc32cOf(found.content), "md5=AAAA"}
	content := slices.Clone(found.content)
	if f.Damage.Load() {
		content[0]++
	}
	http.ServeContent(w, r, "", found.Updated, strings.NewReader(string(content)))
}

func crc32cOf(content []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))))
}

func (f *GCS) list(w http.ResponseWriter, r *http.Request) {
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
	var items []gcsResource
	for _, key := range keys {
		items = append(items, f.objects[key].gcsResource)
	}
	page["items"] = items
	_ = json.NewEncoder(w).Encode(page)
}

func (f *GCS) delete(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	if _, ok := f.objects[key]; !ok {
		refuseGCS(w, 404, "No such object: bucket/"+key)
		return
	}
	delete(f.objects, key)
	w.WriteHeader(http.StatusNoContent)
}

func (f *GCS) put(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.URL.Query().Get("uploadType") != "multipart" {
		refuseGCS(w, 400, "no parts")
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
			refuseGCS(w, 400, err.Error())
			return
		}
		texts = append(texts, text)
	}
	var described struct {
		gcsResource
		CRC32C string
	}
	if len(texts) != 2 || json.Unmarshal(texts[0], &described) != nil || described.CRC32C != crc32cOf(texts[1]) {
		refuseGCS(w, 400, "Provided CRC32C doesn't match")
		return
	}
	query, _ := url.ParseQuery(r.URL.RawQuery)
	r.Form = query
	if f.unmet(w, r, described.Name) {
		return
	}
	_ = json.NewEncoder(w).Encode(f.store(described.gcsResource, texts[1]))
}
