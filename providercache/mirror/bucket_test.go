package mirror_test

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// watched is a bucket that reports each operation. It does one at a time.
type watched struct {
	installtest.Hooked
	seen    func(op string) // called after each operation; may be nil
	ops     []string
	options map[string]blob.PutOptions // by keys
}

func newWatched(b blob.Bucket) *watched {
	w := &watched{Hooked: installtest.Hooked{Bucket: b, Lock: new(sync.Mutex)}, options: map[string]blob.PutOptions{}}
	w.After = func(c installtest.Call, _ *blob.Object) {
		if c.Op != "put" && c.Op != "delete" {
			return
		}
		name := path.Base(c.Key)
		w.options[name] = c.Put
		w.ops = append(w.ops, c.Op+" "+name)
		if w.seen != nil {
			w.seen(c.Op + " " + name)
		}
	}
	return w
}

func keysOf(t *testing.T, b blob.Bucket) (keys []string) {
	t.Helper()
	for info, err := range b.List(t.Context(), "") {
		succeed(t, err)
		keys = append(keys, strings.TrimPrefix(info.Key, registryHost+"/acme/"))
	}
	slices.Sort(keys)
	return keys
}

func TestMirrorBucket_IsFilledOnce(t *testing.T) {
	m := newMirroring(t)
	b := newWatched(blob.Sub(ofService(t), "mirror"))
	m.to = mirror.Bucket(b)
	first := m.fill("widget", "gadget", "widget@1.0.0")
	if len(first.Packages) != 9 || first.Packages[0].State == event.Present || first.Packages[0].Authentication.TrustLevel != getproviders.LevelCommunity ||
		!strings.HasPrefix(first.Packages[0].Path, "s3://bucket/mirror/"+registryHost+"/acme/gadget/") {
		t.Errorf("first run: %+v", first.Packages)
	}
	for name, want := range map[string][2]string{
		"terraform-provider-widget_1.0.0_linux_amd64.zip": {"application/zip", "immutable"}, "index.json": {"application/json", "stale-if-error"},
		"1.0.0.json": {"application/json", "max-age=60"}, "terraform-provider-widget_1.0.0_SHA256SUMS": {"text/plain", "max-age=60"},
	} {
		got := b.options[name]
		must.Equal(t, got.ContentType, want[0], name)
		must.Contain(t, got.CacheControl, want[1], name)
	}
	before, done, archives := keysOf(t, b), len(b.ops), m.registry.Requests("archive")
	again := m.fill("widget", "gadget", "widget@1.0.0")
	if slices.ContainsFunc(again.Packages, func(p event.Outcome) bool { return p.State != event.Present }) || m.registry.Requests("archive") != archives {
		t.Errorf("second run: %+v, %d requests for archives", again.Packages, m.registry.Requests("archive")-archives)
	}
	must.Equal(t, len(b.ops), done)
	must.EqualSlices(t, keysOf(t, b), before)
	must.Len(t, before, 9+3+2+3*3)
}

// TestMirrorBucket_IsWholeAtEveryMoment reads the bucket as clients do after each of the steps,
// while versions come and go, and after each step at which the process could be killed: the next
// run has the same result.
func TestMirrorBucket_IsWholeAtEveryMoment(t *testing.T) {
	m := newMirroring(t)
	m.opts.Prune, m.opts.Platforms = true, onLinux
	b := newWatched(blob.NewDirectory(m.dir))
	m.to = mirror.Bucket(b)
	b.seen = func(op string) {
		for _, problem := range brokenIndexes(m.dir) {
			t.Errorf("after %s: %s", op, problem)
		}
	}
	sets := [][]mirror.Spec{want("widget@1.0.0", "widget@2.0.0"), want("widget@2.0.0"), want("gadget@1.0.0", "widget@1.1.0")}
	var results [][]string
	for _, wanted := range sets {
		must.Get(m.run(wanted...))(t)
		results = append(results, keysOf(t, b))
	}
	must.Len(t, results[0], 2+2+1+2*3)
	must.Len(t, results[1], 1+1+1+3)
	must.Len(t, results[2], 2*(1+1+1+3))
	killed := errors.New("killed")
	for i := range sets {
		for last := 0; ; last++ {
			before := len(b.ops)
			b.Before = func(_ context.Context, c installtest.Call) error {
				if (c.Op == "put" || c.Op == "delete") && len(b.ops)-before >= last {
					return killed
				}
				return nil
			}
			_, err := mirror.Update(t.Context(), m.Fetcher, m.to, sets[i], m.opts)
			b.Before = nil
			if err == nil {
				break
			}
			if !errors.Is(err, killed) { // a publication that fails each time would never end
				t.Fatal(err)
			}
		}
		must.EqualSlices(t, keysOf(t, b), results[i])
	}
}

func TestMirrorBucket_NeverReplacesAnArchive(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	const name = "widget/terraform-provider-widget_1.0.0_linux_amd64.zip"
	write(t, m.file(name), "other bytes")
	b := blob.NewDirectory(m.dir)
	m.to = mirror.Bucket(b)
	_, err := m.run(want("widget@1.0.0")...)
	must.Equal(t, getproviders.CodeOf(err), "bucket")
	must.Contain(t, err, name+" has other content (")
	keys := keysOf(t, b)
	must.Equal(t, read(t, m.file(name)), "other bytes")
	must.Len(t, keys, 1)
}

func TestMirrorBucket_SendsAgainWhatIsOnlyListed(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	b := blob.NewDirectory(m.dir)
	m.to = mirror.Bucket(b)
	m.fill("widget@1.0.0")
	before := keysOf(t, b)
	succeed(t, b.Delete(t.Context(), registryHost+"/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip"))
	m.fill("widget@1.0.0")
	must.EqualSlices(t, keysOf(t, b), before)
}

// TestMirrorBucket_NeverShowsASignatureBesideAnotherList: signed documents are replaced when the
// registry signs another list, and removed when they aren't true of an archive any more.
func TestMirrorBucket_NeverShowsASignatureBesideAnotherList(t *testing.T) {
	m := newMirroring(t)
	const list = "terraform-provider-widget_1.0.0_SHA256SUMS"
	b := newWatched(blob.NewDirectory(m.dir))
	m.to = mirror.Bucket(b)
	m.opts.Platforms = onLinux
	m.fill("widget@1.0.0")
	for _, name := range documents("widget", "1.0.0") {
		must.Contain(t, keysOf(t, b), name)
	}
	plan9 := getproviders.Platform{OS: "plan9", Arch: "arm"}
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plan9})
	m.opts.Platforms, b.ops = []getproviders.Platform{plan9}, nil
	m.again(registrySource(m.registry))
	m.fill("widget@1.0.0")
	must.EqualSlices(t, slices.DeleteFunc(b.ops, func(op string) bool {
		return !strings.Contains(op, "SHA256SUMS") || strings.HasSuffix(op, ".keys.json")
	}), []string{"delete " + list + ".sig", "put " + list, "put " + list + ".sig"})
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: otherPlatforms[0],
		Archive: zipOf(t, map[string]string{"terraform-provider-widget": "again"})})
	m.opts.Platforms = otherPlatforms[:1]
	m.again(unsigned{registrySource(m.registry)})
	m.fill("widget@1.0.0")
	must.NotContain(t, keysOf(t, b), "SHA256SUMS")
}

// unsigned is a source without signatures.
type unsigned struct{ getproviders.Source }

func (u unsigned) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	pkg, err := u.Source.Package(ctx, p, v, plat)
	pkg.Trust = getproviders.Trust{}
	return pkg, err
}

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
	m.fill("widget@1.1.0")
	for want, bucket := range map[string]blob.Bucket{
		"s3://bucket/mirror/":                               own,
		"s3://bucket/mirror/?endpoint=https://evil.example": &elsewhere{newNamed(m.dir)},
	} {
		source := must.Get(mirror.Source(bucket))(t)
		got := must.Get(source.Describe(widget).SourceURL(t.Context(), widget, version("1.1.0"), linux))(t)
		pkg := must.Get(source.Package(t.Context(), widget, version("1.1.0"), linux))(t)
		must.Equal(t, got, want)
		must.Equal(t, pkg.SourceURL, want)
		must.Equal(t, source.Describe(widget).Name, "provider mirror at "+want)
	}
	must.Equal(t, buckets.SourceURL(blob.Sub(&elsewhere{own}, registryHost), ""), "s3://bucket/mirror/"+registryHost+"?endpoint=https://evil.example")
}

// TestMirrorSource_InstallsFromABucket resumes a broken download,
// and verifies the signature beside the archive.
func TestMirrorSource_InstallsFromABucket(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	bucket := newNamed(m.dir)
	m.to = mirror.Bucket(bucket)
	m.fill("widget@1.1.0")
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
