package providercache_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// recorder keeps the events of each provider as text.
type recorder struct {
	pending []string
	of      map[getproviders.Provider][]string
	busy    atomic.Bool
	overlap bool
}

func (r *recorder) observe(_ context.Context, e event.Event) {
	if !r.busy.CompareAndSwap(false, true) {
		r.overlap = true
	}
	defer r.busy.Store(false)
	if r.of == nil {
		r.of = map[getproviders.Provider][]string{}
	}
	if e.Kind == event.Queued {
		r.pending = append(r.pending, fmt.Sprint(len(e.Requirements)))
		return
	}
	r.of[e.Provider] = append(r.of[e.Provider], told(e))
}

// told is an event as text.
func told(e event.Event) string {
	switch e.Kind {
	case event.Query:
		return fmt.Sprintf("query %q %v", e.Constraints, e.Locked)
	case event.Warning:
		return fmt.Sprintf("warnings %q", e.Warnings)
	case event.Hashing:
		return fmt.Sprintf("read %s", e.Version)
	case event.Fetching:
		return fmt.Sprintf("fetch %s %T of %s", e.Version, e.Package.Location, e.Source)
	case event.Progress:
		return fmt.Sprintf("received %d of %d", e.Done, e.Total)
	case event.Begun:
		return e.Phase.String()
	case event.Done:
		return ended(e)
	}
	return fmt.Sprintf("%s %s", e.Kind, e.Version)
}

func ended(e event.Event) string {
	switch e.State {
	case event.BuiltIn:
		return "built in"
	case event.Linked:
		return fmt.Sprintf("from the cache %s by %s", e.Version, e.Link)
	case event.Fetched:
		return fmt.Sprintf("installed %s %s of %s after %v", e.Version, e.Authentication.TrustLevel, e.Source, e.Skipped)
	case event.Failed:
		return fmt.Sprintf("failed: %s", e.Err.(*getproviders.Fault).Step)
	}
	return fmt.Sprintf("%s %s", e.State, e.Version)
}

func TestEvents_OfEachProviderComeInOrder(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	far := registryHost + "/acme/far"
	archive := zipOf(t, map[string]string{"terraform-provider-far": "far away"})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "far", Version: "1.0.0", Platform: linux, Archive: archive})
	source := newSource(t)
	source.AddZip(t, "acme/near", "1.0.0")
	pkg := source.Packages[provider("acme/near")][v1]
	pkg.Skipped = errors.New("the mirror is down")
	source.Packages[provider("acme/near")][v1] = pkg
	source.AddZip(t, "acme/kept", "1.0.0")
	source.AddZip(t, "acme/broken", "1.0.0", []byte("no archive"))
	source.Warnings[provider("acme/near")] = []string{"moved"}
	source.Warnings[provider("acme/old")] = []string{"archived"}
	source.AddZip(t, "acme/old", "1.0.0")

	setUp := newInstaller(t, source)
	locks, _ := install(t, setUp, require("acme/kept", ""), nil)
	locks.Set(entry("acme/unfit", "1.0.0"))

	var got recorder
	both := newInstaller(t, getproviders.MultiSource{Selectors: []getproviders.Selector{
		{Source: source},
		{Source: in.Fetcher.Source, Include: []getproviders.Pattern{getproviders.Pattern(provider(far))}},
	}})
	both.Target, both.Fetcher.Client, both.Fetcher.Observe = setUp.Target, in.Fetcher.Client, got.observe
	both.Fetcher.Now = func() time.Time { return time.Time{} } // no time passes, so progress is reported at the beginning and the end only
	req := require(far, "", "acme/near", "~> 1.0", "acme/kept", "", "acme/broken", "", "terraform.io/builtin/terraform", "")
	must.Refuse(attempt(t, both, req, locks))(t)
	queued := len(got.of)
	req = require("acme/old", "> 1.0", "acme/unfit", "2.0.0", "terraform.io/builtin/other", "")
	must.Refuse(attempt(t, both, req, locks))(t)

	size := len(archive)
	want := map[string][]string{
		far:           {`query "" false`, "selected 1.0.0", "fetch 1.0.0 getproviders.HTTPArchive of registry registry.example.com", fmt.Sprintf("received 0 of %d", size), fmt.Sprintf("received %d of %d", size, size), "unpacking", "installed 1.0.0 self-signed of registry registry.example.com after <nil>"},
		"acme/near":   {`query "~> 1.0" false`, `warnings ["moved"]`, "selected 1.0.0", "fetch 1.0.0 getproviders.LocalArchive of memory", "unpacking", "installed 1.0.0 unauthenticated of memory after the mirror is down"},
		"acme/kept":   {`query "" true`, "selected 1.0.0", "read 1.0.0", "present 1.0.0"},
		"acme/broken": {`query "" false`, "selected 1.0.0", "fetch 1.0.0 getproviders.LocalArchive of memory", "unpacking", "failed: unpack"},
		"acme/old":    {`query "> 1.0.0" false`, `warnings ["archived"]`, "failed: select"},
		"acme/unfit":  {`query "2.0.0" true`, "failed: lock"},

		"terraform.io/builtin/terraform": {"built in"},
		"terraform.io/builtin/other":     {"failed: built-in"},
	}
	for address, events := range want {
		must.EqualSlices(t, got.of[provider(address)], events)
	}
	if queued != 5 || len(got.of) != len(want) || !slices.Equal(got.pending, []string{"5", "3"}) || got.overlap {
		t.Errorf("events of %d providers, pending %q, overlap %v", len(got.of), got.pending, got.overlap)
	}
}

// callKey is the key of a call's name in its context.
type callKey struct{}

func TestEvents_OfManyCallsDoNotOverlapAndHaveTheirContexts(t *testing.T) {
	source := parallelSource(t)
	in := newInstaller(t, source)
	var got recorder
	in.Fetcher.Observe = func(ctx context.Context, e event.Event) {
		if about := e.Provider.Type; about != "" && ctx.Value(callKey{}) != about {
			t.Errorf("%T of %s comes with the context of %v", e, about, ctx.Value(callKey{}))
		}
		got.observe(ctx, e)
	}
	for i := range 8 {
		source.AddZip(t, fmt.Sprintf("acme/p%d", i), "1.0.0")
	}
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			p := provider(fmt.Sprintf("acme/p%d", i))
			must.Equal(t, must.ErrorOf(in.Ensure(context.WithValue(t.Context(), callKey{}, p.Type), p, constraints(""))), nil)
		})
	}
	calls.Wait()
	if got.overlap || len(got.pending) != 8 {
		t.Errorf("overlap %v, %d calls", got.overlap, len(got.pending))
	}
}

// TestEvents_ReportProgressInSteps: the clock moves by a quarter of the interval each time it is
// asked, so that a fraction of the reads is reported, or stands still, so that it is those by which the bytes have doubled.
func TestEvents_ReportProgressInSteps(t *testing.T) {
	t.Parallel()
	archive := zipOf(t, map[string]string{"terraform-provider-widget": noise(1 << 20)})
	for step, reported := range map[time.Duration]int64{25 * time.Millisecond: 4, 0: 100} {
		source := newSource(t)
		source.Add("acme/widget", "1.0.0", httpArchive(t, "https://example.com/widget.zip"))
		in := newInstaller(t, source)
		reads := &slowBody{body: archive}
		in.Fetcher.Client = &http.Client{Transport: reads}
		clock := time.Time{}
		in.Fetcher.Now = func() time.Time { clock = clock.Add(step); return clock }
		var last, told int64
		in.Fetcher.Observe = func(_ context.Context, e event.Event) {
			if e.Kind == event.Progress {
				if e.Done < last || e.Total != int64(len(archive)) {
					t.Errorf("told %d of %d after %d", e.Done, e.Total, last)
				}
				last, told = e.Done, told+1
			}
		}
		install(t, in, widgets, nil)
		if last != int64(len(archive)) || told < 3 || told > reads.reads/reported+3 {
			t.Errorf("told %d times of %d reads, the last of %d bytes; there are %d", told, reads.reads, last, len(archive))
		}
	}
	// Hashing is reported even for packages that can't have a receipt, such as links.
	t.Run("reading a link", func(t *testing.T) {
		m := parallelMachine(t)
		d := m.directory()
		locks, _ := m.install(d, nil)
		dir, _ := packageA(t, d.Target.Dir)
		elsewhere := filepath.Join(t.TempDir(), "package")
		succeed(t, os.Rename(dir, elsewhere))
		if err := must.Symlink(elsewhere, dir); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		m.install(d, locks)
		if !slices.Contains(d.read, dir) {
			t.Errorf("%s isn't in %q", dir, d.read)
		}
	})
}

// slowBody is a transport whose body comes in pieces of 1000 bytes.
type slowBody struct {
	body  []byte
	reads int64
}

func (s *slowBody) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: req, Header: http.Header{}, Body: s, ContentLength: int64(len(s.body))}, nil
}

func (s *slowBody) Read(p []byte) (int, error) {
	s.reads++
	n := copy(p[:min(len(p), 1000)], s.body)
	s.body = s.body[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (s *slowBody) Close() error { return nil }
