package mirror_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// damage changes one byte of a file, but neither its size nor its time.
func damage(t *testing.T, path string) {
	t.Helper()
	content := []byte(read(t, path))
	stat := must.Get(os.Stat(path))(t)
	content[len(content)/2] ^= 1
	succeed(t, os.WriteFile(path, content, 0o600))
	succeed(t, os.Chtimes(path, stat.ModTime(), stat.ModTime()))
}

// TestMirror_VerifiesWhatIsThere damages one archive of a directory, of a bucket and of a bucket without conditions. Without Verify
// it stays; with it, it is fetched again, in its place, and the other archives stay.
func TestMirror_VerifiesWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, destination := range map[string]func(dir string) mirror.Destination{
		"directory": mirror.Directory,
		"bucket":    func(dir string) mirror.Destination { return mirror.Bucket(blob.NewDirectory(dir)) },
		"bucket, without conditions": func(dir string) mirror.Destination {
			return mirror.Bucket(&installtest.Hooked{Bucket: blob.NewDirectory(dir), Before: installtest.Unconditional})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirroring(t)
			dir := t.TempDir()
			update := func() (damaged, fetched int) {
				t.Helper()
				result := must.Get(mirror.Update(t.Context(), m.Fetcher, destination(dir), want("widget", "gadget@1.0.0"), m.opts))(t)
				for _, p := range result.Packages {
					if p.Damaged {
						damaged++
					}
					if p.State == event.Fetched {
						fetched++
					}
				}
				return damaged, fetched
			}
			update()
			archives := must.Get(filepath.Glob(filepath.Join(dir, registryHost, "acme", "widget", "*.zip")))(t)
			whole := []byte(read(t, archives[0]))
			m.opts.Verify = true
			if damaged, fetched := update(); damaged+fetched != 0 {
				t.Errorf("nothing is damaged: %d, %d fetched", damaged, fetched)
			}
			for _, change := range []func(string){
				func(path string) { damage(t, path) },
				func(path string) { succeed(t, os.Truncate(path, 0)) },
				func(path string) { succeed(t, os.WriteFile(path, append(bytes.Clone(whole), 'x'), 0o600)) },
			} {
				change(archives[0])
				before := m.registry.Requests("archive")
				damaged, fetched := update()
				must.Equal(t, damaged, 1)
				must.Equal(t, fetched, 1)
				must.Equal(t, m.registry.Requests("archive"), before+1)
				must.Equal(t, read(t, archives[0]) == string(whole), true, "the archive isn't what it was")
				if damaged, fetched := update(); damaged+fetched != 0 {
					t.Errorf("after that: %d, %d fetched", damaged, fetched)
				}
			}
			damage(t, archives[0])
			m.registry.Break("archive", providertest.Fault{Status: 404})
			_, err := mirror.Update(t.Context(), m.Fetcher, destination(dir), want("widget"), m.opts)
			must.Contain(t, err, filepath.Base(archives[0])+" is damaged, and can't be fetched again: ")
		})
	}
}

// storedArchive is an archive of a registry.
type storedArchive struct {
	getproviders.Archive
	content []byte
}

func (a storedArchive) Open(context.Context, int64) (getproviders.OpenedArchive, error) {
	return getproviders.OpenedArchive{Body: io.NopCloser(bytes.NewReader(a.content)), Size: int64(len(a.content))}, nil
}

// TestMirrorRegistry_Verifies: what is damaged in a registry is an error, because nothing can be replaced there.
func TestMirrorRegistry_Verifies(t *testing.T) {
	m := newMirroring(t)
	m.opts.Verify, m.opts.Platforms = true, m.opts.Platforms[:1]
	content := []byte(read(t, m.fill("widget@1.0.0").Packages[0].Path))
	r := &inMemory{}
	m.to = mirror.Registry(r)
	m.fill("widget@1.0.0")
	stored := &r.versions["oci://host/widget:1.0.0"][0]
	stored.From = storedArchive{content: content}
	must.Equal(t, m.fill("widget@1.0.0").Packages[0].State, event.Present)
	stored.From = storedArchive{content: content[1:]}
	result, err := m.run(want("widget@1.0.0")...)
	if err == nil || !strings.Contains(err.Error(), "oci://host/widget:1.0.0 has other bytes for "+m.opts.Platforms[0].String()+" than it says (zh:") || !result.Packages[0].Damaged || r.published != 1 {
		t.Errorf("%v, %+v, published %d times", err, result.Packages, r.published)
	}
}
