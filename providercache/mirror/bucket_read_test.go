package mirror_test

import (
	"io"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// named is a bucket with a name of its own, whose first archive breaks off.
type named struct {
	installtest.Hooked
	offsets []int64 // at which archives were opened, one after the other
}

func newNamed(dir string) *named {
	n := &named{Hooked: installtest.Hooked{Bucket: blob.NewDirectory(dir)}}
	n.After = func(c installtest.Call, o *blob.Object) {
		if o != nil && strings.HasSuffix(c.Key, ".zip") {
			if n.offsets = append(n.offsets, c.Offset); len(n.offsets) == 1 {
				installtest.Cut(o, 100, io.ErrUnexpectedEOF)
			}
		}
	}
	return n
}

func (n *named) String() string { return "s3://bucket/mirror" }

// elsewhere is a bucket of another service.
type elsewhere struct{ *named }

func (e *elsewhere) Endpoint() string { return "https://me:hunter2@evil.example" }

// TestMirrorSource_SaysWhoseBucketItIs has buckets of one name at two services. A policy tells them apart.
func TestMirrorSource_SaysWhoseBucketItIs(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	own := newNamed(m.dir)
	m.to = mirror.Bucket(own)
	m.fill(t, "widget@1.1.0")
	for want, bucket := range map[string]blob.Bucket{
		"s3://bucket/mirror/":                                                   own,
		"s3://bucket/mirror/?endpoint=https://evil.example":                     &elsewhere{newNamed(m.dir)},
		"s3://bucket/mirror/" + registryHost + "?endpoint=https://evil.example": nil,
	} {
		if bucket == nil {
			must.Equal(t, buckets.SourceURL(blob.Sub(&elsewhere{own}, registryHost), ""), want)
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
	bucket := newNamed(m.dir)
	m.to = mirror.Bucket(bucket)
	m.fill(t, "widget@1.1.0")
	source := must.Get(mirror.Source(bucket))(t)
	source.Signers = trusts(m.registry)
	archives := m.registry.Requests("archive")
	got := must.Get(newInstaller(t, source).Ensure(t.Context(), widget, constraints("~> 1.0")))(t)
	if got.Version != version("1.1.0") || got.Authentication.TrustLevel != getproviders.LevelCommunity {
		t.Errorf("%+v", got)
	}
	if len(bucket.offsets) != 2 || bucket.offsets[0] != 0 || bucket.offsets[1] == 0 || m.registry.Requests("archive") != archives {
		t.Errorf("the archive was opened at %v", bucket.offsets)
	}
	_, err := source.Versions(t.Context(), provider(registryHost+"/acme/other"))
	if missing := getproviders.FaultOf(err, getproviders.ErrProviderNotFound); missing == nil || missing.Source != "provider mirror at s3://bucket/mirror/" {
		t.Errorf("%v", err)
	}
}
