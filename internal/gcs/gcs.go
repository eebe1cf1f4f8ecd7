// Package gcs implements buckets of Google Cloud Storage.
//
//	bucket, err := gcs.Opener{Environ: os.Environ()}.Open(ctx, u)
//	defer bucket.Close()
//
// URLs are gs://BUCKET/PREFIX, without parameters.
//
// Credentials are the access token of GOOGLE_OAUTH_ACCESS_TOKEN, or Google's application default
// credentials, which are looked up for the first request. Without credentials, requests are
// anonymous, which is enough to read public objects. STORAGE_EMULATOR_HOST names another server,
// which gets anonymous requests.
//
// Conditional requests use the service's generations. The service allows about one write a second to
// an object.
package gcs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/googlestorage"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Opener opens gs://BUCKET/PREFIX. Its method Open is one of [buckets.Openers].
type Opener struct {
	Client  *http.Client // nil means hosts.DefaultClient
	Environ []string     // with the variables of the package comment, as os.Environ returns them
}

// Open opens the bucket of a URL, without a request to it.
func (o Opener) Open(_ context.Context, u *url.URL) (blob.Bucket, error) {
	name, prefix, _, err := buckets.SplitURL(u)
	if err != nil {
		return nil, err
	}
	return blob.Sub(o.bucket(name), prefix), nil
}

// bucket implements blob.Bucket, without the checks of [blob.Sub].
type bucket struct {
	name   string
	client googlestorage.Client
}

func (o Opener) bucket(name string) *bucket {
	return &bucket{name, googlestorage.Client{HTTP: o.Client, Environ: o.Environ, Login: &googlestorage.Login{Scope: googlestorage.ReadWrite}}}
}

// Endpoint returns the URL of the emulator, or "" for Google's own service.
func (b *bucket) Endpoint() string { return b.client.Emulator() }

// String implements blob.Bucket.
func (b *bucket) String() string { return "gs://" + b.name }

// Close implements blob.Bucket.
func (b *bucket) Close() error {
	b.client.Login.Settle()
	return nil
}

// resource is the service's JSON of an object. Numbers are JSON strings.
type resource struct {
	Name         string    `json:"name"`
	Size         int64     `json:"size,string,omitempty"`
	Generation   string    `json:"generation,omitempty"`
	Updated      time.Time `json:"updated,omitzero"`
	ContentType  string    `json:"contentType,omitempty"`
	CacheControl string    `json:"cacheControl,omitempty"`
}

const (
	resourceFields = "name,size,generation,updated,contentType,cacheControl"
	malformed      = "the answer of %s: %w"
)

func (r resource) info() blob.Info {
	return blob.Info{Key: r.Name, Size: r.Size, Tag: r.Generation, Modified: r.Updated, ContentType: r.ContentType, CacheControl: r.CacheControl}
}

// generation adds the condition that an object has a tag. Tags are positive numbers, so for any
// other one it returns ErrChanged.
func generation(query url.Values, tag string) error {
	if tag == "" {
		return nil
	}
	if n, err := strconv.ParseInt(tag, 10, 64); err != nil || n <= 0 {
		return blob.ErrChanged
	}
	query.Set("ifGenerationMatch", tag)
	return nil
}

// Get implements blob.Bucket.
func (b *bucket) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	query, header := url.Values{"alt": {"media"}}, http.Header{}
	if err := generation(query, opts.IfMatch); err != nil {
		return nil, err
	}
	part := opts.Offset > 0 || opts.Length > 0
	if part {
		header.Set("Range", hosts.RangeOf(opts.Offset, opts.Length))
	}
	resp, err := b.client.Do(ctx, googlestorage.Request{Path: googlestorage.ObjectPath(b.name, key), Query: query, Header: header})
	if err != nil {
		return nil, explain(err, blob.ErrNotFound)
	}
	info := blob.Info{
		Key: key, Size: resp.ContentLength, Tag: resp.Header.Get("X-Goog-Generation"),
		ContentType: resp.Header.Get("Content-Type"), CacheControl: resp.Header.Get("Cache-Control"),
	}
	info.Modified, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	if part && resp.StatusCode == http.StatusOK && info.Size == 0 { // for a range of an empty object, the service may send 200
		if part = false; opts.Offset > 0 {
			resp.Body.Close()
			return nil, blob.ErrRange
		}
	}
	if !part {
		return &blob.Object{Info: info, Body: googlestorage.Checked(resp)}, nil
	}
	if resp.StatusCode != http.StatusPartialContent {
		resp.Header.Del("Content-Range")
	}
	if info.Size, err = hosts.SizeIn(resp.Header.Get("Content-Range"), opts.Offset); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return &blob.Object{Info: info, Body: resp.Body}, nil // the checksum is of the whole object
}

// Stat implements blob.Bucket.
func (b *bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	var found resource
	err := b.client.Ask(ctx, googlestorage.Request{Path: googlestorage.ObjectPath(b.name, key), Query: url.Values{"fields": {resourceFields}}}, &found, malformed)
	return found.info(), explain(err, blob.ErrNotFound)
}

// Put implements blob.Bucket. It is one multipart request with the metadata and the content. The boundary is random, so that no
// content contains it.
func (b *bucket) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	query := url.Values{"uploadType": {"multipart"}, "fields": {resourceFields}}
	if opts.IfAbsent {
		query.Set("ifGenerationMatch", "0")
	}
	if err := generation(query, opts.IfMatch); err != nil {
		return blob.Info{}, err
	}
	kind := cmp.Or(opts.ContentType, "application/octet-stream")
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := chunks.Copy(ctx, sum, io.NewSectionReader(content, 0, content.Size()), make([]byte, chunks.Size)); err != nil {
		return blob.Info{}, err
	}
	metadata, err := json.Marshal(struct {
		resource
		CRC32C string `json:"crc32c"` // the service refuses content that was changed in transit
	}{resource{Name: key, ContentType: kind, CacheControl: opts.CacheControl}, base64.StdEncoding.EncodeToString(sum.Sum(nil))})
	if err != nil {
		return blob.Info{}, err
	}
	boundary := rand.Text()
	head := []byte("--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + string(metadata) +
		"\r\n--" + boundary + "\r\nContent-Type: " + kind + "\r\n\r\n")
	tail := []byte("\r\n--" + boundary + "--\r\n")
	var written resource
	err = b.client.Ask(ctx, googlestorage.Request{
		Method: http.MethodPost, Path: "/upload" + googlestorage.ObjectPath(b.name, ""), Query: query,
		Header: http.Header{"Content-Type": {"multipart/related; boundary=" + boundary}},
		Body: func() io.ReadCloser {
			return io.NopCloser(io.MultiReader(bytes.NewReader(head), io.NewSectionReader(content, 0, content.Size()), bytes.NewReader(tail)))
		},
		Size: int64(len(head)+len(tail)) + content.Size(),
	}, &written, malformed)
	return written.info(), explain(err, blob.ErrNoBucket)
}

// List implements blob.Bucket.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		of := googlestorage.Listing{Bucket: b.name, Prefix: prefix, Fields: resourceFields, URL: b.String() + "/" + prefix, Malformed: malformed}
		for found, err := range googlestorage.List[resource](ctx, b.client, of) {
			if !yield(found.info(), explain(err, blob.ErrNoBucket)) {
				return
			}
		}
	}
}

// Delete implements blob.Bucket.
func (b *bucket) Delete(ctx context.Context, key string) error {
	resp, err := b.client.Do(ctx, googlestorage.Request{Method: http.MethodDelete, Path: googlestorage.ObjectPath(b.name, key)})
	if err == nil {
		err = resp.Body.Close()
	}
	return explain(err, blob.ErrNotFound)
}

// explain adds the blob error that callers check for. missing is that of a 404, unless the service says that the bucket doesn't
// exist.
func explain(err, missing error) error {
	answer, ok := errors.AsType[*googlestorage.AnswerError](err)
	if !ok {
		return err
	}
	switch status := answer.HTTPStatusCode(); {
	case status == http.StatusNotFound && strings.Contains(answer.Said, "bucket does not exist"):
		return withKind(blob.ErrNoBucket, err)
	case status == http.StatusNotFound:
		return withKind(missing, err)
	case status == http.StatusPreconditionFailed:
		return blob.ErrChanged
	case status == http.StatusRequestedRangeNotSatisfiable:
		return blob.ErrRange
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return withKind(hosts.ErrUnauthorized, err)
	}
	return err
}

// withKind returns an error that matches both kind and err.
func withKind(kind, err error) error { return fmt.Errorf("%w (%w)", kind, err) }
