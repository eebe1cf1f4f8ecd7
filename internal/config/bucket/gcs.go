package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/internal/googlestorage"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

const maxListBytes = 16 << 20 // of one page of keys, of which there are at most 1000

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
	return Objects{Key: parts[4], bucket: parts[3], version: u.Fragment,
		service: cloudStorage{googlestorage.Client{HTTP: s.Client, Environ: s.Environ, Login: &s.google}}}, nil
}

// cloudStorage is the JSON API of Google Cloud Storage.
type cloudStorage struct{ client googlestorage.Client }

func (c cloudStorage) close() {}

func (c cloudStorage) keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := url.Values{"prefix": {prefix}, "fields": {"items(name),nextPageToken"}}
		pages := hosts.Pages{URL: "https://www.googleapis.com" + googlestorage.ObjectPath(bucket, "")}
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
			if err := pages.Next(page.NextPageToken); err != nil {
				yield("", err)
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
	resp, err := c.client.Do(ctx, googlestorage.Request{Path: googlestorage.ObjectPath(bucket, ""), Query: query})
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
	resp, err := c.client.Do(ctx, googlestorage.Request{Path: googlestorage.ObjectPath(bucket, key), Query: query})
	if err != nil {
		return nil, err
	}
	return googlestorage.Checked(resp), nil
}
