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
		"s3://bkt": {"bkt"}, "s3://bkt/": {"bkt"}, "s3://bkt/p/q/": {"bkt", "p/q"}, "s3://bkt/p%20q?region=x": {"bkt", "p q"}, "s3://my_bucket/x": {"my_bucket", "x"},
	} {
		u := must.Get(url.Parse(text))(t)
		if bucket, prefix, _, err := SplitURL(u, "region"); err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("%s: %q, %q, %v", text, bucket, prefix, err)
		}
	}
	for _, text := range []string{"s3://", "s3:///p", "s3://u:hunter@b", "s3://b:1/p", "s3://bkt/p#f", "s3://bkt/p//q", "s3://bkt/../p", "s3:b",
		"s3://ci/p", "s3://-bkt/p", "s3://bkt./p", "s3://b(k)t/p", "s3://u:hunter@bkt", "s3://bkt:1/p",
		"s3://bkt?x=hunter", "s3://bkt?region=hunter&region=y", "s3://bkt?%zz"} {
		u := must.Get(url.Parse(text))(t)
		if bucket, _, _, err := SplitURL(u, "region"); !errors.Is(err, ErrURL) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %q, %v", text, bucket, err)
		}
	}
}
