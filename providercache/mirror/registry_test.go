package mirror_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// inMemory is a registry in memory.
type inMemory struct {
	mu        sync.Mutex
	versions  map[string][]remote.Release
	signed    map[string]*getproviders.SignedDocuments
	published int // how often Publish was called
	fails     error
	unknown   error // of Published
}

func (r *inMemory) Path(p getproviders.Provider, v getproviders.Version) string {
	return "oci://host/" + p.Type + ":" + v.String()
}

func (r *inMemory) Published(_ context.Context, p getproviders.Provider, v getproviders.Version) ([]remote.Release, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.versions[r.Path(p, v)], r.signed[r.Path(p, v)] != nil, r.unknown
}

func (r *inMemory) Publish(_ context.Context, p getproviders.Provider, v getproviders.Version, archives []remote.Release, signed *getproviders.SignedDocuments) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.published++
	if r.fails != nil {
		return r.fails
	}
	if r.versions == nil {
		r.versions, r.signed = map[string][]remote.Release{}, map[string]*getproviders.SignedDocuments{}
	}
	if signed != nil {
		r.signed[r.Path(p, v)] = signed
	}
	for _, a := range archives {
		content, err := io.ReadAll(a.Archive)
		if err != nil {
			return err
		}
		if getproviders.ZH(sha256.Sum256(content)) != a.ZH || !strings.HasPrefix(string(a.H1), "h1:") {
			return errors.New("these are other bytes")
		}
		a.Archive = nil
		r.versions[r.Path(p, v)] = append(r.versions[r.Path(p, v)], a)
	}
	return nil
}

func TestMirrorRegistry_PublishesWhatIsMissing(t *testing.T) {
	m := newMirroring(t)
	r := &inMemory{}
	m.to = mirror.Registry(r)
	platforms := m.opts.Platforms
	m.opts.Platforms = platforms[:1]
	m.fill("widget@1.0.0")
	m.opts.Platforms = platforms
	result := m.fill("widget@1.0.0", "gadget@1.1.0")
	present := 0
	for _, p := range result.Packages {
		if p.State == event.Present {
			present++
		}
		if p.State != event.Present && p.Authentication.TrustLevel != getproviders.LevelCommunity || !strings.HasPrefix(p.Path, "oci://host/") {
			t.Errorf("%+v", p)
		}
	}
	if n := m.registry.Requests("archive"); len(result.Packages) != 2*len(platforms) || present != 1 || r.published != 3 || n != 2*len(platforms) {
		t.Errorf("%d packages, %d were there, published %d times, %d downloads", len(result.Packages), present, r.published, n)
	}
	locked := want("widget@1.0.0")
	for _, a := range r.versions["oci://host/widget:1.0.0"] {
		locked[0].Hashes = append(locked[0].Hashes, a.H1)
	}
	asked := m.registry.Requests("package")
	if must.Get(m.run(locked...))(t); r.published != 3 || m.registry.Requests("package") != asked {
		t.Errorf("what a lock file has hashes of was asked for, or published %d times", r.published)
	}
	for path, signed := range r.signed {
		for _, a := range r.versions[path] {
			if strings.Contains(path, "widget") && !signed.Covers(widget, version("1.0.0"), a.Platform, a.ZH) {
				t.Errorf("%s: what is signed doesn't have %s", path, a.Platform)
			}
		}
	}
	must.Len(t, r.signed, 2)
	delete(r.signed, "oci://host/widget:1.0.0")
	archives := m.registry.Requests("archive")
	if must.Get(m.run(locked...))(t); r.signed["oci://host/widget:1.0.0"] == nil || m.registry.Requests("archive") != archives {
		t.Errorf("a signed list that was missing wasn't published, or archives were downloaded")
	}
}

func TestMirrorRegistry_TellsWhatWasNotPublished(t *testing.T) {
	m := newMirroring(t)
	refused := errors.New("there is no such repository")
	r := &inMemory{fails: refused}
	m.to = mirror.Registry(r)
	result, err := m.run(want("widget@1.0.0")...)
	must.Fail(t, err, refused)
	must.Equal(t, len(result.Packages), len(m.opts.Platforms))
	must.Fail(t, result.Packages[0].Err, refused)
	m.opts.Prune = true
	if _, err := m.run(want("widget@1.0.0")...); err == nil || errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}

// TestMirrorRegistry_EventsAreAboutTheSamePackages has a registry that works, and one that can't be asked.
func TestMirrorRegistry_EventsAreAboutTheSamePackages(t *testing.T) {
	t.Parallel()
	for _, unknown := range []error{nil, errors.New("it doesn't answer")} {
		m := mirroringOf(t)
		var mu sync.Mutex
		done := map[string]error{}
		queued, strangers := 0, 0
		m.Fetcher.Observe = func(_ context.Context, e event.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch e.Kind {
			case event.Queued:
				for _, p := range e.Packages {
					done[p.Path+" "+p.Platform.String()] = errors.New("no event")
				}
				queued = len(e.Packages)
			case event.Done:
				key := e.Path + " " + e.Platform.String()
				if _, ok := done[key]; !ok {
					strangers++
				}
				done[key] = e.Err
			}
		}
		r := &inMemory{unknown: unknown}
		_, err := mirror.Update(t.Context(), m.Fetcher, mirror.Registry(r), want("widget@1.0.0", "gadget@1.1.0"), m.opts)
		if !errors.Is(err, unknown) || queued != 2*len(m.opts.Platforms) || strangers > 0 || len(done) != queued {
			t.Errorf("%d were queued, %d others are done: %v", queued, strangers, err)
		}
		for key, err := range done {
			if !errors.Is(err, unknown) || !strings.HasPrefix(key, "oci://host/") {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
}
