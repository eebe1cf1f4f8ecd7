package hosts

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"github.com/tfdeps/tfdeps/internal/par"
)

const (
	documentBytes  = 1 << 20  // of a document that is remembered
	documentsBytes = 16 << 20 // of all of them
)

// Remembered is a document, and how the registry names it.
type Remembered struct {
	Tag    string
	Header http.Header
	Body   []byte
}

// Documents remembers documents. What is in a key may be a secret. Many goroutines call its methods.
type Documents interface {
	Get(key string) (Remembered, bool)
	Put(key string, d Remembered)
}

// recent remembers documents as long as there is room.
type recent struct {
	*par.Recent[string, Remembered]
}

func (r recent) Put(key string, d Remembered) { r.Recent.Put(key, d, int64(len(d.Body)+1024)) }

// WithRevalidation returns a client that does what the given one does, and remembers documents in
// JSON that have an ETag, up to 16 MiB of them: it asks for such a document again on the condition
// that it has changed. It is for programs that live long. Archives aren't remembered, nor documents
// of more than 1 MiB.
func WithRevalidation(client *http.Client) *http.Client {
	return WithDocuments(client, recent{par.NewRecent[string, Remembered](documentsBytes)}, func(*http.Request) bool { return true })
}

// WithDocuments is WithRevalidation with a memory of the caller's, for the requests that it is for.
func WithDocuments(client *http.Client, memory Documents, isFor func(*http.Request) bool) *http.Client {
	return onTop(client, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet || req.Header.Get("Range") != "" || req.Header.Get("If-None-Match") != "" || !isFor(req) {
			return next.RoundTrip(req)
		}
		key := req.URL.String() + "\n" + req.Header.Get("Authorization") + "\n" + req.Header.Get("Accept") // what an answer may depend on
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

// remember keeps a document, and returns the response as if it hadn't been read.
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

// readFirst is a body of which a part was read already.
type readFirst struct {
	io.Reader
	io.Closer
}

// failed is what is left of a body that can't be read.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
