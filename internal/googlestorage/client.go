// Package googlestorage makes requests to the JSON API of Google Cloud Storage. It is shared by
// several packages of this module; it isn't an API for others.
//
//	client := googlestorage.Client{HTTP: nil, Environ: os.Environ(), Login: &googlestorage.Login{}}
//	resp, err := client.Do(ctx, request)
//
// Credentials are the access token of GOOGLE_OAUTH_ACCESS_TOKEN, or Google's application default
// credentials. Without credentials, requests are anonymous, which is enough to read public objects.
// STORAGE_EMULATOR_HOST names another server, which gets anonymous requests.
package googlestorage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// storageURL is the URL of Google Cloud Storage; buckets' addresses in configurations name an older
// host.
const storageURL = "https://storage.googleapis.com"

const (
	maxSaidBytes = 4 << 10  // of an error's body
	maxAnswer    = 16 << 20 // of a JSON body; a page of a list has at most 1000 objects
)

// Client makes requests. Many goroutines may use it.
type Client struct {
	HTTP    *http.Client // nil means hosts.DefaultClient
	Environ []string     // as os.Environ returns it
	Login   *Login
}

// Request is a request of Client.Do.
type Request struct {
	Method string     // "" means GET
	Path   string     // escaped, with its leading slash
	Query  url.Values // nil means none
	Header http.Header
	// Body opens the body from its beginning; nil means none. Size is its length in bytes.
	Body func() io.ReadCloser
	Size int64
}

// Do sends a request, and returns the response if its status is 200 to 299; otherwise an
// *AnswerError. It asks for content as it is stored, but Google decompresses what is stored with
// gzip.
func (c Client) Do(ctx context.Context, r Request) (*http.Response, error) {
	emulator := c.Emulator()
	req, err := http.NewRequestWithContext(ctx, r.Method, cmp.Or(emulator, storageURL)+r.Path+"?"+r.Query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if r.Body != nil {
		req.Body, req.ContentLength = r.Body(), r.Size
		req.GetBody = func() (io.ReadCloser, error) { return r.Body(), nil }
	}
	req.Header.Set("Accept-Encoding", "identity")
	known := emulator != "" // the emulator needs no credentials
	if !known {
		if known, err = c.Login.authorize(ctx, c.HTTP, c.Environ, req.Header); err != nil {
			return nil, err
		}
	}
	if r.Query.Get("alt") == "media" { // an object may be an archive
		req = req.WithContext(hosts.WithOwnConnection(ctx))
	}
	resp, err := hosts.Do(c.HTTP, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, &AnswerError{
		method: req.Method, url: hosts.RedactURL(resp.Request.URL, "alt", "generation", "prefix"), code: resp.StatusCode, Said: said(resp),
		anonymous: !known,
	}
}

// Ask decodes a JSON response into into. malformed is the format of the error for invalid JSON; its arguments are the URL and
// the reason.
func (c Client) Ask(ctx context.Context, r Request, into any, malformed string) error {
	resp, err := c.Do(ctx, r)
	if err != nil {
		return err
	}
	text, err := hosts.ReadAll(resp, maxAnswer)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf(malformed, hosts.RedactURL(resp.Request.URL), err)
	}
	return nil
}

// Listing selects the objects and fields of a list.
type Listing struct {
	Bucket, Prefix, Fields string
	URL                    string // for error messages
	Malformed              string // as for Ask
}

// List lists objects, with the fields of T.
func List[T any](ctx context.Context, c Client, of Listing) iter.Seq2[T, error] {
	return hosts.List(of.URL, func(name string) ([]T, string, error) {
		query := url.Values{"prefix": {of.Prefix}, "fields": {"items(" + of.Fields + "),nextPageToken"}}
		if name != "" {
			query.Set("pageToken", name)
		}
		var page struct {
			Items         []T
			NextPageToken string
		}
		err := c.Ask(ctx, Request{Path: ObjectPath(of.Bucket, ""), Query: query}, &page, of.Malformed)
		return page.Items, page.NextPageToken, err
	})
}

// Emulator returns the URL of the server that replaces Google's and gets anonymous requests, or "" if none
// is set.
func (c Client) Emulator() string {
	emulator := subprocess.Variable(c.Environ, "STORAGE_EMULATOR_HOST")
	if emulator == "" {
		return ""
	}
	if !strings.Contains(emulator, "://") {
		emulator = "http://" + emulator
	}
	return strings.TrimSuffix(strings.TrimRight(emulator, "/"), "/storage/v1")
}

// ObjectPath returns the URL path of an object, or, if key is "", of the bucket's list of objects.
func ObjectPath(bucket, key string) string {
	path := "/storage/v1/b/" + url.PathEscape(bucket) + "/o"
	if key != "" {
		path += "/" + url.PathEscape(key)
	}
	return path
}

// said returns Google's message about a refused request, or "".
func said(resp *http.Response) string {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaidBytes))
	var answer struct{ Error struct{ Message string } }
	if json.Unmarshal(text, &answer) == nil && answer.Error.Message != "" {
		return answer.Error.Message
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		return strings.TrimSpace(string(text))
	}
	return ""
}

// AnswerError is a response with an error status.
type AnswerError struct {
	Said      string // by the service; "" means nothing
	method    string
	url       string // redacted
	code      int
	anonymous bool // no credentials were found
}

// Error implements error.
func (e *AnswerError) Error() string {
	text := fmt.Sprintf("%s %q: %d %s", e.method, e.url, e.code, http.StatusText(e.code))
	if e.Said != "" {
		text += ": " + strconv.Quote(e.Said)
	}
	if e.anonymous && (e.code == http.StatusUnauthorized || e.code == http.StatusForbidden) {
		text += " (asked without credentials, as there are none: run \"gcloud auth application-default login\", or set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_OAUTH_ACCESS_TOKEN)"
	}
	return text
}

// HTTPStatusCode returns the response's status. The AWS SDK's errors have the same method.
func (e *AnswerError) HTTPStatusCode() int { return e.code }
