package hosts

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"github.com/tfdeps/tfdeps/internal/par"
)

const (
	documentBytes  = 1 << 20  // of a cached document
	documentsBytes = 16 << 20 // of all cached documents
)

// Remembered is a cached document with its ETag.
type Remembered struct {
	Tag    string
	Header http.Header
	Body   []byte
}

// Documents caches documents. A key may have secrets. Many goroutines call the methods.
type Documents interface {
	Get(key string) (Remembered, bool)
	Put(key string, d Remembered)
}

// recent caches the most recently used documents.
type recent struct {
	*par.Recent[string, Remembered]
}

func (r recent) Put(key string, d Remembered) { r.Recent.Put(key, d, int64(len(d.Body)+1024)) }

// WithRevalidation returns a copy of a client that caches JSON documents with an ETag, up to 16 MiB
// of them, and requests them conditionally. It is for long-lived programs. It caches neither
// archives nor documents of more than 1 MiB.
func WithRevalidation(client *http.Client) *http.Client {
	return WithDocuments(client, recent{par.NewRecent[string, Remembered](documentsBytes)}, func(*http.Request) bool { return true })
}

// WithDocuments is WithRevalidation with the caller's cache, for the requests for which isFor
// returns true.
func WithDocuments(client *http.Client, memory Documents, isFor func(*http.Request) bool) *http.Client {
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet || req.Header.Get("Range") != "" || req.Header.Get("If-None-Match") != "" || !isFor(req) {
			return next.RoundTrip(req)
		}
		key := req.URL.String() + "\n" + req.Header.Get("Authorization") + "\n" + req.Header.Get("Accept") // all that an answer may depend on
		known, ok := memory.Get(key)
		if ok {
			req = req.Clone(req.Context())
			req.Header.Set("If-None-Match", known.Tag)
		}
		resp, err := next.RoundTrip(req)
		if err != nil {
			return resp, err
		}
		if ok && resp.StatusCode == http.StatusNotModified {
			resp.Body.Close()
			resp.Status, resp.StatusCode, resp.Header = "200 OK", http.StatusOK, known.Header.Clone()
			resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(known.Body)), int64(len(known.Body))
			return resp, nil
		}
		return remember(memory, key, resp)
	})
}

// remember caches a document, and returns the response with an unread body.
func remember(memory Documents, key string, resp *http.Response) (*http.Response, error) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	tag := resp.Header.Get("Etag")
	if resp.StatusCode != http.StatusOK || tag == "" || err != nil || kind != "application/json" || resp.ContentLength > documentBytes {
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(metered{resp.Body, resp.Request.Context()}, documentBytes+1))
	if err == nil && len(body) <= documentBytes {
		memory.Put(key, Remembered{tag, resp.Header.Clone(), body})
	}
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failed{err}
	}
	resp.Body = &readFirst{io.MultiReader(bytes.NewReader(body), rest), resp.Body}
	return resp, nil
}

// readFirst is a body whose beginning has been read already.
type readFirst struct {
	io.Reader
	io.Closer
}

// failed is the rest of a body after an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
