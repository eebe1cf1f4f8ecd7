// Package googlestorage makes requests to the JSON API of Google Cloud Storage. It is shared by
// several packages of this module, and is no API for others.
//
//	client := googlestorage.Client{HTTP: nil, Environ: os.Environ(), Login: &googlestorage.Login{}}
//	resp, err := client.Do(ctx, request)
//
// Credentials are the access token of GOOGLE_OAUTH_ACCESS_TOKEN, or Google's application default
// credentials; where there are none, requests are made without, which is enough for what is public.
// STORAGE_EMULATOR_HOST names another server, which is asked without.
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

// storageURL is where Google Cloud Storage answers; its addresses name an older host.
const storageURL = "https://storage.googleapis.com"

const (
	maxRedirects = 10
	maxSaidBytes = 4 << 10  // of an error
	maxAnswer    = 16 << 20 // a page of a list has 1000 objects at most
)

// Client makes requests. It is safe for many goroutines.
type Client struct {
	HTTP    *http.Client // nil: hosts.DefaultClient
	Environ []string     // like os.Environ
	Login   *Login
}

// Request is a request.
type Request struct {
	Method string     // "": GET
	Path   string     // with its slash, escaped
	Query  url.Values // nil: there is none
	Header http.Header
	// Body opens the body, each time from its beginning; nil: there is none. Size is its bytes.
	Body func() io.ReadCloser
	Size int64
}

// Do sends a request, and returns an answer with a status of 200 to 299; others are an
// *AnswerError. Content is asked for as it is stored, but for what is stored compressed, which
// Google unpacks.
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
	known := emulator != "" // that asks for none
	if !known {
		if known, err = c.Login.authorize(ctx, c.HTTP, c.Environ, req.Header); err != nil {
			return nil, err
		}
	}
	resp, err := hosts.Do(c.HTTP, req, maxRedirects)
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

// Ask reads an answer in JSON. malformed is the format of an error with the URL of an answer that isn't that, and the reason.
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

// Listing says which objects of a bucket are listed, and how.
type Listing struct {
	Bucket, Prefix, Fields string
	URL                    string // for errors
	Malformed              string // as of Ask
}

// List lists the fields of objects, as T has them.
func List[T any](ctx context.Context, c Client, of Listing) iter.Seq2[T, error] {
	query := url.Values{"prefix": {of.Prefix}, "fields": {"items(" + of.Fields + "),nextPageToken"}}
	return hosts.List(of.URL, func(name string) ([]T, string, error) {
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

// Emulator is the URL of the server that is asked without credentials in Google's place; "": there is none.
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

// ObjectPath is the path of an object, or, without a key, of all those of a bucket.
func ObjectPath(bucket, key string) string {
	path := "/storage/v1/b/" + url.PathEscape(bucket) + "/o"
	if key != "" {
		path += "/" + url.PathEscape(key)
	}
	return path
}

// said is what Google has to say of a request that it refused.
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

// AnswerError is an answer that isn't the one that was hoped for.
type AnswerError struct {
	Said      string // by the service; "": nothing
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

// HTTPStatusCode is the answer's status, under the name that the AWS SDK has for it.
func (e *AnswerError) HTTPStatusCode() int { return e.code }
