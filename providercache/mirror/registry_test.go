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
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// inMemory is a registry in memory.
type inMemory struct {
	mu        sync.Mutex
	versions  map[string][]mirror.RegistryArchive
	published int // how often Publish was called
	fails     error
}

func (r *inMemory) Path(p getproviders.Provider, v getproviders.Version) string {
	return "oci://host/" + p.Type + ":" + v.String()
}

func (r *inMemory) Published(_ context.Context, p getproviders.Provider, v getproviders.Version) ([]mirror.RegistryArchive, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.versions[r.Path(p, v)], nil
}

func (r *inMemory) Publish(_ context.Context, p getproviders.Provider, v getproviders.Version, archives []mirror.RegistryArchive) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.published++
	if r.fails != nil {
		return r.fails
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

func TestUpdateRegistry_PublishesWhatIsMissing(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	r := &inMemory{versions: map[string][]mirror.RegistryArchive{}}
	run := func(wanted ...mirror.Spec) mirror.Result {
		result, err := mirror.UpdateRegistry(t.Context(), m.Fetcher, r, m.opts, wanted)
		must(t, err)
		return result
	}
	platforms := m.opts.Platforms
	m.opts.Platforms = platforms[:1]
	run(want("widget@1.0.0")...)
	m.opts.Platforms = platforms
	result := run(want("widget@1.0.0", "gadget@1.1.0")...)
	present := 0
	for _, p := range result.Packages {
		if p.Present {
			present++
		}
		if !p.Present && p.Authentication.TrustLevel != getproviders.LevelCommunity || !strings.HasPrefix(p.Path, "oci://host/") {
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
	if run(locked...); r.published != 3 || m.registry.Requests("package") != asked {
		t.Errorf("what a lock file has hashes of was asked for, or published %d times", r.published)
	}
}

func TestUpdateRegistry_TellsWhatWasNotPublished(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	refused := errors.New("there is no such repository")
	r := &inMemory{versions: map[string][]mirror.RegistryArchive{}, fails: refused}
	result, err := mirror.UpdateRegistry(t.Context(), m.Fetcher, r, m.opts, want("widget@1.0.0"))
	if !errors.Is(err, refused) || len(result.Packages) != len(m.opts.Platforms) || !errors.Is(result.Packages[0].Err, refused) {
		t.Errorf("%+v, %v", result, err)
	}
	m.opts.Prune = true
	if _, err := mirror.UpdateRegistry(t.Context(), m.Fetcher, r, m.opts, want("widget@1.0.0")); err == nil || errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}
