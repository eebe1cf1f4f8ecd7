package bucket

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/internal/googlestorage"
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
	return Objects{Key: parts[4], bucket: parts[3], version: u.Fragment,
		service: cloudStorage{googlestorage.Client{HTTP: s.Client, Environ: s.Environ, Login: &s.google}}}, nil
}

// cloudStorage is the JSON API of Google Cloud Storage.
type cloudStorage struct{ client googlestorage.Client }

func (c cloudStorage) close() {}

func (c cloudStorage) keys(ctx context.Context, bucket, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		of := googlestorage.Listing{Bucket: bucket, Prefix: prefix, Fields: "name", URL: "https://www.googleapis.com" + googlestorage.ObjectPath(bucket, ""),
			Malformed: "the list of objects that %s answered with: %w"}
		for object, err := range googlestorage.List[struct{ Name string }](ctx, c.client, of) {
			if !yield(object.Name, err) {
				return
			}
		}
	}
}

func (c cloudStorage) read(ctx context.Context, bucket, key, version string) (io.ReadCloser, error) {
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
