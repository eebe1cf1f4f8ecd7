package providercache_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// counting is a transport that knows how many bodies are being read at once.
type counting struct {
	bodies map[string][]byte // by path

	mu        sync.Mutex
	open, max int
	requests  int
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.open++
	c.max = max(c.max, c.open)
	body := c.bodies[req.URL.Path]
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{},
		Body: &countedBody{bytes.NewReader(body), c}, ContentLength: int64(len(body)),
	}, nil
}

type countedBody struct {
	io.Reader
	of *counting
}

func (b *countedBody) Close() error {
	time.Sleep(20 * time.Millisecond) // until all that may be open are
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.of.open--
	return nil
}

// webInstaller installs n providers acme/p0... whose archives come from the transport, each with so many random bytes.
func webInstaller(t *testing.T, n, size int) (in *providercache.Installer, web *counting, source *memorySource, all getproviders.Requirements) {
	source, web, all = newSource(t), &counting{bodies: map[string][]byte{}}, getproviders.Requirements{}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		web.bodies["/"+name] = zipOf(t, map[string]string{"terraform-provider-" + name: noise(size)})
		source.Add("acme/"+name, "1.0.0", httpArchive(t, "https://example.com/"+name))
		all.Add(provider("acme/"+name), getproviders.Requirement{})
	}
	in = newInstaller(t, source)
	in.Fetcher.Client = &http.Client{Transport: web}
	return in, web, source, all
}

func TestLimits_DownloadsAreBoundedOverAllInstallersOfAFetcher(t *testing.T) {
	t.Parallel()
	in, web, _, all := webInstaller(t, 12, 1)
	in.Fetcher.Limits = providercache.Limits{Downloads: 2}
	var installers sync.WaitGroup
	for providers := range slices.Chunk(all.Providers(), 3) {
		own := &providercache.Installer{Fetcher: in.Fetcher, Target: storeIn(t.TempDir())}
		installers.Go(func() {
			must.Equal(t, attempt(t, own, getproviders.Requirements{providers[0]: nil, providers[1]: nil, providers[2]: nil}, nil), nil)
		})
	}
	installers.Wait()
	must.Equal(t, web.max, 2)
	must.Equal(t, web.open, 0)
}

// TestLimits_MayBeBoundless uses the largest numbers, as people do who want no limit.
func TestLimits_MayBeBoundless(t *testing.T) {
	t.Parallel()
	in, _, _, all := webInstaller(t, 1, 1)
	in.Fetcher.Limits = providercache.Limits{PackageBytes: math.MaxInt64, PackageFiles: math.MaxInt}
	install(t, in, all, nil)
}

// TestLimits_MemoryIsFlat: how much is allocated for three packages doesn't depend on how large
// they are. It counts all allocations, freed or not, so that it doesn't depend on the garbage
// collector.
func TestLimits_MemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 12 MB")
	}
	const size = 4 << 20
	in, _, _, all := webInstaller(t, 3, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	install(t, in, all, nil)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > size {
		t.Errorf("%d bytes were allocated for three packages of %d bytes", got, size)
	}
}

func TestLimits_DownloadsAreBoundedForEachHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hosts  int
		limits providercache.Limits
		want   int
	}{
		"one of each host":  {hosts: 3, limits: providercache.Limits{PerHost: 1, Downloads: 16}, want: 3},
		"all in all":        {hosts: 3, limits: providercache.Limits{PerHost: 2, Downloads: 4}, want: 4},
		"all from one host": {hosts: 1, want: 16},
		"from many":         {hosts: 12, limits: providercache.Limits{Queries: 64}, want: 32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, web, source, all := webInstaller(t, c.want+8, 50_000)
			for i, p := range all.Providers() {
				source.Add("acme/"+p.Type, "1.0.0", httpArchive(t, fmt.Sprintf("https://h%d.example.com/%s", i%c.hosts, p.Type)))
			}
			in.Fetcher.Client, in.Fetcher.Limits = impatient(t, web), c.limits
			install(t, in, all, nil)
			if web.max > c.want || web.open != 0 {
				t.Errorf("%d downloads at once, %d bodies never closed; want at most %d, and none", web.max, web.open, c.want)
			}
		})
	}
}
