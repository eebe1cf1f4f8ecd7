package providercache_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"

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

func (b *countedBody) Read(p []byte) (int, error) {
	runtime.Gosched() // lets other goroutines run
	return b.Reader.Read(p)
}

func (b *countedBody) Close() error {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.of.open--
	return nil
}

// webSource has n providers acme/p0... whose archives come from the transport.
func webSource(t *testing.T, n int, archive func(name string) []byte) (*memorySource, *counting) {
	source, web := newSource(t), &counting{bodies: map[string][]byte{}}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		web.bodies["/"+name] = archive("terraform-provider-" + name)
		source.Add("acme/"+name, "1.0.0", httpArchive(t, "https://example.com/"+name))
	}
	return source, web
}

func TestLimits_DownloadsAreBoundedOverAllInstallersOfAFetcher(t *testing.T) {
	t.Parallel()
	source, web := webSource(t, 12, func(name string) []byte { return zipOf(t, map[string]string{name: name}) })
	f := newInstaller(t, source).Fetcher
	f.Client, f.Limits = &http.Client{Transport: web}, providercache.Limits{Downloads: 2}
	errs := make(chan error)
	for i := range 4 {
		req := getproviders.Requirements{}
		for j := range 3 {
			req.Add(provider(fmt.Sprintf("acme/p%d", 3*i+j)), getproviders.Requirement{})
		}
		in := &providercache.Installer{Fetcher: f, Target: &providercache.Store{Dir: t.TempDir()}}
		go func() {
			err := attempt(t, in, req, nil)
			errs <- err
		}()
	}
	for range 4 {
		succeed(t, <-errs)
	}
	must.Equal(t, web.max, 2)
	must.Equal(t, web.open, 0)
}

// TestLimits_MayBeBoundless uses the largest numbers, which people write who want no limit.
func TestLimits_MayBeBoundless(t *testing.T) {
	t.Parallel()
	source, web := webSource(t, 1, func(name string) []byte { return zipOf(t, map[string]string{name: name}) })
	in := newInstaller(t, source)
	in.Fetcher.Client = &http.Client{Transport: web}
	in.Fetcher.Limits = providercache.Limits{PackageBytes: math.MaxInt64, PackageFiles: math.MaxInt}
	install(t, in, require("acme/p0", ""), nil)
}

// TestLimits_MemoryIsFlat: how much is allocated for three packages doesn't depend on how large
// they are. It counts all allocations, freed or not, so that it doesn't depend on the garbage
// collector.
func TestLimits_MemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 12 MB")
	}
	const size = 4 << 20
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	source, web := webSource(t, 3, func(name string) []byte { return zipOf(t, map[string]string{name: string(noise)}) })
	in := newInstaller(t, source)
	in.Fetcher.Client = &http.Client{Transport: web}
	req := getproviders.Requirements{}
	for p := range source.Packages {
		req.Add(p, getproviders.Requirement{})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	install(t, in, req, nil)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > size {
		t.Errorf("%d bytes were allocated for three packages of %d bytes", got, size)
	}
}
