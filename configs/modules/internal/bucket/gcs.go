package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// storageURL is where Google Cloud Storage answers; its addresses name an older host.
const storageURL = "https://storage.googleapis.com"

const (
	maxRedirects = 10
	maxListBytes = 16 << 20 // of one page of keys, of which there are at most 1000
	maxSaidBytes = 4 << 10  // of an error
)

// openGCS reads https://www.googleapis.com/storage/v1/BUCKET/KEY#GENERATION.
func (s *Services) openGCS(u *url.URL) (Objects, error) {
	parts := strings.SplitN(u.Path, "/", 5)
	if !strings.HasSuffix(u.Host, ".googleapis.com") || strings.Count(u.Host, ".") != 2 || len(parts) < 5 {
		return Objects{}, fmt.Errorf("%w: gcs knows www.googleapis.com/storage/v1/BUCKET/KEY", ErrAddress)
	}
	if u.Fragment != "" {
		if _, err := strconv.ParseInt(u.Fragment, 10, 64); err != nil {
			return Objects{}, fmt.Errorf("%w: the generation %q of a gcs object is no number", ErrAddress, u.Fragment)
		}
	}
	storage := cloudStorage{services: s, url: storageURL}
	if emulator := s.variable("STORAGE_EMULATOR_HOST"); emulator != "" {
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		storage.url, storage.anonymous = strings.TrimSuffix(strings.TrimRight(emulator, "/"), "/storage/v1"), true
	}
	return Objects{Key: parts[4], bucket: parts[3], version: u.Fragment, service: storage}, nil
}

// cloudStorage is the JSON API of Google Cloud Storage.
type cloudStorage struct {
	services  *Services
	url       string
	anonymous bool // an emulator is asked without credentials
}

func (c cloudStorage) close() {}

func (c cloudStorage) keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := url.Values{"prefix": {prefix}, "fields": {"items(name),nextPageToken"}}
		for {
			page, err := c.page(ctx, bucket, query)
			if err != nil {
				yield("", err)
				return
			}
			for _, object := range page.Items {
				if !yield(object.Name, nil) {
					return
				}
			}
			if page.NextPageToken == "" {
				return
			}
			query.Set("pageToken", page.NextPageToken)
		}
	}
}

// listing is a page of the keys of a bucket.
type listing struct {
	Items         []struct{ Name string }
	NextPageToken string
}

func (c cloudStorage) page(ctx context.Context, bucket string, query url.Values) (page listing, err error) {
	resp, err := c.get(ctx, "/storage/v1/b/"+url.PathEscape(bucket)+"/o", query)
	if err != nil {
		return listing{}, err
	}
	text, err := hosts.ReadAll(resp, maxListBytes)
	if err != nil {
		return listing{}, err
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return listing{}, fmt.Errorf("the list of objects that %s answered with: %w", hosts.RedactURL(resp.Request.URL), err)
	}
	return page, nil
}

func (c cloudStorage) read(ctx context.Context, bucket, key, version string) (io.ReadCloser, error) {
	if key == "" {
		return nil, errors.New("the address names a bucket and no object")
	}
	query := url.Values{"alt": {"media"}}
	if version != "" {
		query.Set("generation", version)
	}
	resp, err := c.get(ctx, "/storage/v1/b/"+url.PathEscape(bucket)+"/o/"+url.PathEscape(key), query)
	if err != nil {
		return nil, err
	}
	return checked(resp), nil
}

// get asks with the credentials that there are. Content is asked for as it is stored, but for what is stored
// compressed, which Google unpacks.
func (c cloudStorage) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	login := googleLogin{}
	if !c.anonymous {
		if login, err = c.services.googleLogin(ctx); err != nil {
			return nil, err
		}
		login.add(req.Header)
	}
	resp, err := hosts.Do(c.services.Client, req, maxRedirects)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, &answerError{
		url: hosts.RedactURL(resp.Request.URL, "alt", "generation", "prefix"), code: resp.StatusCode, said: said(resp),
		anonymous: !c.anonymous && login.token == nil,
	}
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

// answerError is an answer that isn't the one that was hoped for.
type answerError struct {
	url       string // redacted
	code      int
	said      string
	anonymous bool // no credentials were found
}

// Error implements error.
func (e *answerError) Error() string {
	text := fmt.Sprintf("GET %q: %d %s", e.url, e.code, http.StatusText(e.code))
	if e.said != "" {
		text += ": " + strconv.Quote(e.said)
	}
	if e.anonymous && (e.code == http.StatusUnauthorized || e.code == http.StatusForbidden) {
		text += " (asked without credentials, as there are none: run \"gcloud auth application-default login\", or set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_OAUTH_ACCESS_TOKEN)"
	}
	return text
}

// HTTPStatusCode is the answer's status, under the name that the AWS SDK has for it.
func (e *answerError) HTTPStatusCode() int { return e.code }
