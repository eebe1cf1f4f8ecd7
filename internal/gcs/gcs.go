// Package gcs has buckets of Google Cloud Storage.
//
//	bucket := gcs.New(gcs.Options{Bucket: "providers", Environ: os.Environ()})
//	defer bucket.Close()
//
// [Opener] reads URLs: gs://BUCKET/PREFIX has no parameters.
//
// Credentials are the access token of GOOGLE_OAUTH_ACCESS_TOKEN, or Google's application default
// credentials, found when the first request is made; where there are none, requests are made
// without, which is enough to read what is public. STORAGE_EMULATOR_HOST names another server,
// which is asked without.
//
// Conditions are those of the service, by generations. An object can be written about once a second.
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

// Options say which bucket it is. Only Bucket is required.
type Options struct {
	Bucket  string
	Client  *http.Client // nil: hosts.DefaultClient
	Environ []string     // with the variables of the package comment, like os.Environ
}

// Bucket is a bucket of Google Cloud Storage. Make one with [New] or an [Opener].
type Bucket struct {
	name   string
	client googlestorage.Client
}

var _ blob.Bucket = (*Bucket)(nil)

// New returns a bucket, which isn't asked yet.
func New(opts Options) *Bucket {
	return &Bucket{name: opts.Bucket, client: googlestorage.Client{
		HTTP: opts.Client, Environ: opts.Environ, Login: &googlestorage.Login{Scope: googlestorage.ReadWrite},
	}}
}

// Opener opens gs://BUCKET/PREFIX. Its method Open is one of [buckets.Openers].
type Opener struct {
	Client  *http.Client // as in Options
	Environ []string
}

// Open opens the bucket of a URL.
func (o Opener) Open(_ context.Context, u *url.URL) (blob.Bucket, error) {
	name, prefix, _, err := buckets.SplitURL(u)
	if err != nil {
		return nil, err
	}
	return blob.Sub(New(Options{Bucket: name, Client: o.Client, Environ: o.Environ}), prefix), nil
}

// Endpoint is the URL of the service if it isn't Google's own: "".
func (b *Bucket) Endpoint() string { return b.client.Emulator() }

// String implements blob.Bucket.
func (b *Bucket) String() string { return "gs://" + b.name }

// Close implements blob.Bucket.
func (b *Bucket) Close() error {
	b.client.Login.Settle()
	return nil
}

// resource is what the service says of an object. It writes numbers as texts.
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

// generation adds the condition that an object has a tag. No object has one that is no number.
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
func (b *Bucket) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	if err := opts.Check(key); err != nil {
		return nil, blob.Fail("get", b, key, err)
	}
	object, err := b.get(ctx, key, opts)
	if errors.Is(err, blob.ErrRange) && opts.Offset == 0 {
		object, err = b.get(ctx, key, blob.GetOptions{IfMatch: opts.IfMatch}) // it is empty: no range has a part of it
	}
	return object, blob.Fail("get", b, key, err)
}

func (b *Bucket) get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
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
		return nil, explain(err, blob.ErrChanged)
	}
	info := blob.Info{
		Key: key, Size: resp.ContentLength, Tag: resp.Header.Get("X-Goog-Generation"),
		ContentType: resp.Header.Get("Content-Type"), CacheControl: resp.Header.Get("Cache-Control"),
	}
	info.Modified, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	if part && resp.StatusCode == http.StatusOK && info.Size == 0 { // an empty object has no parts, and may come as a whole
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
	return &blob.Object{Info: info, Body: resp.Body}, nil // the checksum is that of all of it
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	err := blob.CheckKey(key)
	var found resource
	if err == nil {
		err = b.client.Ask(ctx, googlestorage.Request{Path: googlestorage.ObjectPath(b.name, key), Query: url.Values{"fields": {resourceFields}}}, &found, malformed)
	}
	return found.info(), blob.Fail("stat", b, key, explain(err, blob.ErrChanged))
}

// Put implements blob.Bucket. It is one request.
func (b *Bucket) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	err := opts.Check(key, content)
	var written resource
	if err == nil {
		written, err = b.put(ctx, key, content, opts)
	}
	return written.info(), blob.Fail("put", b, key, err)
}

// put sends a description and the content, with a boundary between them that no content has, as it is chosen at random.
func (b *Bucket) put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (written resource, err error) {
	query := url.Values{"uploadType": {"multipart"}, "fields": {resourceFields}}
	unmet := blob.ErrChanged
	if opts.IfAbsent {
		query.Set("ifGenerationMatch", "0")
		unmet = blob.ErrExists
	}
	if err := generation(query, opts.IfMatch); err != nil {
		return resource{}, err
	}
	kind := cmp.Or(opts.ContentType, "application/octet-stream")
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := chunks.Copy(ctx, sum, io.NewSectionReader(content, 0, content.Size()), make([]byte, chunks.Size)); err != nil {
		return resource{}, err
	}
	metadata, err := json.Marshal(struct {
		resource
		CRC32C string `json:"crc32c"` // the service refuses content that changed on its way
	}{resource{Name: key, ContentType: kind, CacheControl: opts.CacheControl}, base64.StdEncoding.EncodeToString(sum.Sum(nil))})
	if err != nil {
		return resource{}, err
	}
	boundary := rand.Text()
	head := []byte("--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + string(metadata) +
		"\r\n--" + boundary + "\r\nContent-Type: " + kind + "\r\n\r\n")
	tail := []byte("\r\n--" + boundary + "--\r\n")
	err = b.client.Ask(ctx, googlestorage.Request{
		Method: http.MethodPost, Path: "/upload/storage/v1/b/" + url.PathEscape(b.name) + "/o", Query: query,
		Header: http.Header{"Content-Type": {"multipart/related; boundary=" + boundary}},
		Body: func() io.ReadCloser {
			return io.NopCloser(io.MultiReader(bytes.NewReader(head), io.NewSectionReader(content, 0, content.Size()), bytes.NewReader(tail)))
		},
		Size: int64(len(head)+len(tail)) + content.Size(),
	}, &written, malformed)
	if err = explain(err, unmet); errors.Is(err, blob.ErrNotFound) {
		err = withKind(blob.ErrNoBucket, err)
	}
	return written, err
}

// List implements blob.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		of := googlestorage.Listing{Bucket: b.name, Prefix: prefix, Fields: resourceFields, URL: b.String() + "/" + prefix, Malformed: malformed}
		for found, err := range googlestorage.List[resource](ctx, b.client, of) {
			if err == nil && blob.CheckKey(found.Name) != nil {
				continue // some programs have objects that stand for directories
			}
			if err = explain(err, blob.ErrChanged); errors.Is(err, blob.ErrNotFound) {
				err = withKind(blob.ErrNoBucket, err)
			}
			if !yield(found.info(), blob.Fail("list", b, prefix, err)) {
				return
			}
		}
	}
}

// Delete implements blob.Bucket.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := blob.CheckKey(key)
	if err == nil {
		var resp *http.Response
		if resp, err = b.client.Do(ctx, googlestorage.Request{Method: http.MethodDelete, Path: googlestorage.ObjectPath(b.name, key)}); err == nil {
			err = resp.Body.Close()
		}
	}
	if err = explain(err, blob.ErrChanged); errors.Is(err, blob.ErrNotFound) {
		err = nil
	}
	return blob.Fail("delete", b, key, err)
}

// explain adds what callers branch on to an error. Unmet is what it means that a condition isn't met.
func explain(err, unmet error) error {
	answer, ok := errors.AsType[*googlestorage.AnswerError](err)
	if !ok {
		return err
	}
	switch status := answer.HTTPStatusCode(); {
	case status == http.StatusNotFound && strings.Contains(answer.Said, "bucket does not exist"):
		return withKind(blob.ErrNoBucket, err)
	case status == http.StatusNotFound:
		return withKind(blob.ErrNotFound, err)
	case status == http.StatusPreconditionFailed:
		return unmet
	case status == http.StatusRequestedRangeNotSatisfiable:
		return blob.ErrRange
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return withKind(hosts.ErrUnauthorized, err)
	}
	return err
}

// withKind is an error that matches the kind, too.
func withKind(kind, err error) error { return fmt.Errorf("%w (%w)", kind, err) }
