// Command soak installs providers again and again, many at once, from a registry whose every tenth
// response is an error, while it deletes the cache now and then. It fails if an installation fails, or if its
// own goroutines, open files or memory grow.
//
//	go run ./testdata/soak -for=30s -at-once=50
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	length := flag.Duration("for", 30*time.Second, "how long")
	atOnce := flag.Int("at-once", 50, "how many installations at a time")
	flag.Parse()
	if err := run(*length, *atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// soak is the state that all installations share.
type soak struct {
	registry *providertest.Registry
	client   *http.Client
	dir      string
	required getproviders.Requirements

	installed, deleted, broken atomic.Int64
}

const providers = 5

func run(length time.Duration, atOnce int) (err error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	registry, err := providertest.NewRegistry(providertest.Options{})
	if err != nil {
		return err
	}
	defer registry.Close()
	s := &soak{registry: registry, dir: dir, required: getproviders.Requirements{}}
	for i := range providers {
		name := fmt.Sprintf("p%d", i)
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: providertest.Zip(map[string]string{
			"terraform-provider-" + name + "_v1.0.0": strings.Repeat(name, 100_000), "README.md": name,
		})})
		s.required.Add(registry.Provider("acme", name), getproviders.Requirement{})
	}
	s.client, err = hosts.NewClient(hosts.ClientOptions{
		Retries: 8, RetryWaitMin: time.Millisecond, RetryWaitMax: 10 * time.Millisecond, Base: flaky{registry.Client().Transport, &s.broken},
	})
	if err != nil {
		return err
	}
	return s.rounds(time.Now().Add(length), atOnce)
}

// rounds runs rounds of installations until end, and compares the usage after the second
// and the last one. The first round fills pools and buffers.
func (s *soak) rounds(end time.Time, atOnce int) error {
	var first, last usage
	for round := 0; round < 3 || time.Now().Before(end); round++ {
		works := make([]int, 2*atOnce)
		for i := range works {
			works[i] = round*len(works) + i
		}
		_, errs := par.Map(context.Background(), atOnce, works, func(ctx context.Context, number int) (struct{}, error) {
			return struct{}{}, s.install(ctx, number)
		})
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("in round %d: %w", round+1, err)
		}
		s.client.CloseIdleConnections()
		s.registry.Client().CloseIdleConnections()
		last = inUse()
		last.HeapKB -= min(last.HeapKB, uint64(len(s.registry.Log())/2)) // the registry logs requests, 512 bytes each
		if round == 1 {
			first = last
		}
	}
	fmt.Printf("%d installations of %d providers, %d answers broken, cache deleted %d times\n", s.installed.Load(), providers, s.broken.Load(), s.deleted.Load())
	fmt.Printf("after the second round: %+v\nafter the last one:     %+v\n", first, last)
	return last.exceeds(first)
}

// install runs one installation in a new directory. Every 40th deletes the cache while others use it.
func (s *soak) install(ctx context.Context, number int) error {
	work := filepath.Join(s.dir, fmt.Sprint("work", number))
	defer os.RemoveAll(work)
	cacheDir := filepath.Join(s.dir, "cache")
	if number%40 == 39 {
		s.deleted.Add(1)
		_ = os.RemoveAll(cacheDir) // others may be adding to it
	}
	cache, err := providercache.OpenCache(cacheDir, false)
	if err != nil {
		return err
	}
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{
			Source: &getproviders.RegistrySource{Client: s.client, Discovery: &getproviders.Discovery{Client: s.client, Forced: map[getproviders.Hostname]map[string]string{
				providertest.Host: {"providers.v1": s.registry.ServiceURL()},
			}}},
			Client: s.client, StateDir: filepath.Join(s.dir, "state"),
		},
		Target: &providercache.Store{Dir: filepath.Join(work, "providers")}, Cache: cache,
	}
	locks, report, err := installer.Install(ctx, s.required, &depsfile.Locks{}, providercache.Normal)
	if err == nil && (len(report.Outcomes) != providers || len(locks.All()) != providers) {
		err = fmt.Errorf("%d outcomes, %d locked", len(report.Outcomes), len(locks.All()))
	}
	for i := range providers {
		name := fmt.Sprintf("p%d", i)
		found, _ := filepath.Glob(filepath.Join(work, "providers", "*", "acme", name, "1.0.0", "*", "terraform-provider-"+name+"_v1.0.0"))
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%s isn't there", name)
		}
	}
	if err == nil {
		s.installed.Add(1)
	}
	return err
}

// flaky fails every tenth request, in one of three ways.
type flaky struct {
	http.RoundTripper
	broken *atomic.Int64
}

func (f flaky) RoundTrip(req *http.Request) (*http.Response, error) {
	way := rand.IntN(30)
	if way < 3 {
		f.broken.Add(1)
	}
	if way == 0 {
		return nil, errors.New("connection reset by soak")
	}
	resp, err := f.RoundTripper.RoundTrip(req)
	switch {
	case err != nil:
	case way == 1:
		resp.Body.Close()
		resp.StatusCode, resp.Status, resp.Body, resp.ContentLength = 503, "503 Service Unavailable", http.NoBody, 0
	case way == 2:
		resp.Body = cut{io.LimitReader(resp.Body, max(resp.ContentLength/2, 10)), resp.Body}
	}
	return resp, err
}

// cut is a body that ends too early.
type cut struct {
	io.Reader
	io.Closer
}

func (c cut) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// usage is the number of goroutines and files, and the heap, of this process.
type usage struct {
	Goroutines, Files int
	HeapKB            uint64
}

func inUse() usage {
	for range 100 { // wait for connections that are being closed
		if runtime.NumGoroutine() < 10 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	runtime.GC()
	runtime.GC() // a second cycle frees what finalizers and pools held
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	files, _ := os.ReadDir("/proc/self/fd") // nil on systems without this directory
	return usage{runtime.NumGoroutine(), len(files), memory.HeapAlloc >> 10}
}

func (u usage) exceeds(before usage) error {
	if u.Goroutines > before.Goroutines+5 || u.Files > before.Files+5 || u.HeapKB > before.HeapKB+before.HeapKB/2+8<<10 {
		return fmt.Errorf("more is in use at the end than after the second round: %+v, %+v", u, before)
	}
	return nil
}
