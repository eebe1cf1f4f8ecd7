package mirror_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// cutting is a bucket whose first archive breaks off.
type cutting struct {
	blob.Bucket
	mu      sync.Mutex
	offsets []int64 // at which archives were opened
}

func (c *cutting) String() string { return "s3://bucket/mirror" }

func (c *cutting) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	object, err := c.Bucket.Get(ctx, key, opts)
	if err != nil || !strings.HasSuffix(key, ".zip") {
		return object, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.offsets = append(c.offsets, opts.Offset); len(c.offsets) == 1 {
		object.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(object.Body, 100), iotest.ErrReader(io.ErrUnexpectedEOF)), object.Body}
	}
	return object, nil
}

// elsewhere is a bucket of another service.
type elsewhere struct{ cutting }

func (e *elsewhere) Endpoint() string { return "https://me:hunter2@evil.example" }

// TestMirrorSource_SaysWhoseBucketItIs has buckets of one name at two services. A policy tells them apart.
func TestMirrorSource_SaysWhoseBucketItIs(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	own := &cutting{Bucket: blob.NewDirectory(m.dir)}
	must.Get(m.publish(t, own, want("widget@1.1.0")...))(t)
	widget := provider(registryHost + "/acme/widget")
	for want, bucket := range map[string]blob.Bucket{
		"s3://bucket/mirror/":                                                   own,
		"s3://bucket/mirror/?endpoint=https://evil.example":                     &elsewhere{cutting{Bucket: own.Bucket}},
		"s3://bucket/mirror/" + registryHost + "?endpoint=https://evil.example": nil,
	} {
		if bucket == nil {
			must.Equal(t, buckets.SourceURL(blob.Sub(&elsewhere{}, registryHost), ""), want)
			continue
		}
		source := must.Get(mirror.Source(bucket))(t)
		got := must.Get(source.Describe(widget).SourceURL(t.Context(), widget, version("1.1.0"), linux))(t)
		pkg := must.Get(source.Package(t.Context(), widget, version("1.1.0"), linux))(t)
		must.Equal(t, got, want)
		must.Equal(t, pkg.SourceURL, want)
		must.Equal(t, source.Describe(widget).Name, "provider mirror at "+want)
	}
}

// TestMirrorSource_InstallsFromABucket has the download go on where it broke off, and the signature
// beside the archive count.
func TestMirrorSource_InstallsFromABucket(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	bucket := &cutting{Bucket: blob.NewDirectory(m.dir)}
	must.Get(m.publish(t, bucket, want("widget@1.1.0")...))(t)
	source := must.Get(mirror.Source(bucket))(t)
	source.Signers = getproviders.Signers{Trusted: []getproviders.TrustedKey{{Armored: m.registry.Signer().Armored()}}}
	archives := m.registry.Requests("archive")
	got, err := newInstaller(t, source).Ensure(t.Context(), provider(widgetAddress), constraints("~> 1.0"))
	succeed(t, err)
	if got.Version != version("1.1.0") || got.Authentication.TrustLevel != getproviders.LevelCommunity {
		t.Errorf("%+v", got)
	}
	if len(bucket.offsets) != 2 || bucket.offsets[0] != 0 || bucket.offsets[1] == 0 || m.registry.Requests("archive") != archives {
		t.Errorf("the archive was opened at %v", bucket.offsets)
	}
	_, err = source.Versions(t.Context(), provider(registryHost+"/acme/other"))
	if missing := getproviders.FaultOf(err, getproviders.ErrProviderNotFound); missing == nil || missing.Source != "provider mirror at s3://bucket/mirror/" {
		t.Errorf("%v", err)
	}
}
