package buckets

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

func TestOpeners_ReadURLs(t *testing.T) {
	t.Parallel()
	openers := Openers{"file": func(_ context.Context, u *url.URL) (blob.Bucket, error) { return blob.NewDirectory(u.Path), nil }}
	root := filepath.ToSlash(t.TempDir())
	at := "/" + strings.TrimPrefix(root, "/") // of a drive, too
	must.Equal(t, filepath.ToSlash(must.Get(openers.Open(t.Context(), "file://"+at))(t).String()), at)
	for _, address := range []string{"", "relative", "ftp://secret:word@host", "::secret"} {
		_, err := openers.Open(t.Context(), address)
		must.Fail(t, err, ErrURL, address)
		must.NotContain(t, err.Error(), "secret=", address)
		must.NotContain(t, err.Error(), "word", address)
	}
}

func TestSplitURL_RefusesWhatNamesNoBucket(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"s3://b": {"b"}, "s3://b/": {"b"}, "s3://b/p/q/": {"b", "p/q"}, "s3://b/p%20q?region=x": {"b", "p q"}, "s3://my_bucket/x": {"my_bucket", "x"},
	} {
		u := must.Get(url.Parse(text))(t)
		if bucket, prefix, _, err := SplitURL(u, "region"); err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("%s: %q, %q, %v", text, bucket, prefix, err)
		}
	}
	for _, text := range []string{"s3://", "s3:///p", "s3://u:hunter@b", "s3://b:1/p", "s3://b/p#f", "s3://b/p//q", "s3://b/../p", "s3:b",
		"s3://b?x=hunter", "s3://b?region=hunter&region=y", "s3://b?%zz"} {
		u := must.Get(url.Parse(text))(t)
		if bucket, _, _, err := SplitURL(u, "region"); !errors.Is(err, ErrURL) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %q, %v", text, bucket, err)
		}
	}
}
