package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// inTruth runs so many real installations at once, each with its own cache, through a server of the engine on this
// machine. Archives have the sizes of the simulation times scale, and connection is the rate of a connection to the registry
// in bytes per second.
func inTruth(runners int, scale, connection float64) (r result, m machine, err error) {
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return r, m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t, err := newTruth(dir, scale)
	if err != nil {
		return r, m, err
	}
	defer t.registry.Close()
	if m.perInstallation, err = t.measure(); err != nil {
		return r, m, err
	}
	m.unpacked = t.bytes
	t.registry.Break("archive", providertest.Fault{Rate: int64(connection)})
	server, err := t.serve("server")
	if err != nil {
		return r, m, err
	}
	defer server.close()
	before, used, begun := t.requests(), processorTime(), time.Now()
	took, err := server.installAll(runners)
	if err != nil {
		return r, m, err
	}
	if used = processorTime() - used; used > 0 {
		m.cores = used.Seconds() / time.Since(begun).Seconds()
	} else {
		m.cores = float64(runtime.NumCPU())
	}
	counted, after := map[string]int64{}, t.requests()
	for _, s := range server.mirror.Stats() {
		name, _, _ := strings.Cut(s.Name, "{")
		counted[name] += s.Value
	}
	return result{
		Runners: runners, RegistryDocuments: after.documents - before.documents, RegistryArchives: after.archives - before.archives,
		RegistryBytes: float64(counted["downloaded_bytes_total"]), MirrorRequests: int(counted["requests_total"]), MirrorBytes: float64(counted["archive_bytes_total"]),
		Median: took[len(took)/2].Seconds(), Slowest: took[len(took)*99/100].Seconds(),
	}, m, nil
}

// machine is the measured power of this machine. The processor time of an installation is measured before the compared
// installations run. The processors that other programs leave to them are measured meanwhile, because that changes.
type machine struct {
	perInstallation time.Duration // processor time, including the server's
	unpacked        float64       // bytes of archives that an installation unpacks
	cores           float64       // processors that all installations used together
}

// simulate simulates installations that start at once on this machine, with networks as fast as memory.
func (m machine) simulate(runners int, scale float64, c costs) result {
	const memory = 1e12
	c.latency, c.uplink, c.runnerNetwork, c.bucketNetwork, c.replicaNetwork = 0, memory, memory, memory, memory
	c.unpack = m.unpacked / m.perInstallation.Seconds() * m.cores
	return simulate(atOnce(scale), serve, runners, 1, c, true)
}

// several is the number of installations that are measured together: enough to keep all processors busy.
const several = 10

// measure returns the processor time of an installation from a server that has all archives already.
func (t *truth) measure() (time.Duration, error) {
	server, err := t.serve("measured")
	if err != nil {
		return 0, err
	}
	defer server.close()
	if _, err := server.installAll(1); err != nil {
		return 0, err
	}
	used, begun := processorTime(), time.Now()
	if _, err := server.installAll(several); err != nil {
		return 0, err
	}
	if used = processorTime() - used; used <= 0 { // unknown on this system: assume that they used all processors
		used = time.Since(begun) * time.Duration(runtime.NumCPU())
	}
	return used / several, nil
}

// served is a mirror server of the registry with its own bucket.
type served struct {
	truth  *truth
	dir    string
	mirror *mirrorserver.Server
	front  *httptest.Server
}

func (t *truth) serve(name string) (*served, error) {
	dir := filepath.Join(t.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	mirror, err := mirrorserver.Handler(&providercache.Fetcher{Source: t.registry.Source(), Client: t.registry.Client()}, blob.NewDirectory(filepath.Join(dir, "bucket")),
		mirrorserver.Options{Temporary: dir})
	if err != nil {
		return nil, err
	}
	return &served{truth: t, dir: dir, mirror: mirror, front: httptest.NewServer(mirror)}, nil
}

func (s *served) close() {
	s.mirror.Close()
	s.front.Close()
}

// installAll runs so many installations at once, and returns their durations, the shortest first.
func (s *served) installAll(runners int) ([]time.Duration, error) {
	took, errs := par.Map(context.Background(), runners, make([]struct{}, runners), func(ctx context.Context, _ struct{}) (time.Duration, error) {
		mirror, err := getproviders.NewNetworkMirrorSource(s.front.URL+"/", s.front.Client(), nil, getproviders.Product{})
		if err != nil {
			return 0, err
		}
		mirror.Signers.Trusted = []getproviders.TrustedKey{{Armored: s.truth.registry.Signer().Armored()}}
		dir, err := os.MkdirTemp(s.dir, "runner-")
		if err != nil {
			return 0, err
		}
		return s.truth.install(ctx, dir, &providercache.Fetcher{Source: mirror, Client: s.front.Client()})
	})
	slices.Sort(took)
	return took, errors.Join(errs...)
}

// truth is a registry with real archives, and the requirements of installations.
type truth struct {
	dir      string
	registry *providertest.Registry
	required getproviders.Requirements
	bytes    float64 // of all archives
}

func newTruth(dir string, scale float64) (*truth, error) {
	registry, err := providertest.NewRegistry(providertest.Options{})
	if err != nil {
		return nil, err
	}
	t := &truth{dir: dir, registry: registry, required: getproviders.Requirements{}}
	for i, size := range archives {
		name := fmt.Sprint("p", i)
		content := providertest.Zip(map[string]string{"terraform-provider-" + name + "_v1.0.0": incompressible(int(size * scale))})
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: content})
		t.required.Add(registry.Provider("acme", name), getproviders.Requirement{})
		t.bytes += float64(len(content))
	}
	return t, nil
}

// incompressible returns content that an archive can't compress.
func incompressible(size int) string {
	content := make([]byte, size)
	state := uint64(size) + 1
	for i := range content {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		content[i] = byte(state)
	}
	return string(content)
}

// install runs one installation with an empty cache in dir, and removes dir.
func (t *truth) install(ctx context.Context, dir string, f *providercache.Fetcher) (took time.Duration, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f.StateDir = filepath.Join(dir, "state")
	installer := &providercache.Installer{Fetcher: f, Target: &providercache.Store{Dir: filepath.Join(dir, "providers")}}
	began := time.Now()
	_, report, err := installer.Install(ctx, t.required, &depsfile.Locks{}, providercache.Normal)
	took = time.Since(began)
	if err == nil && len(report.Outcomes) != len(archives) {
		err = fmt.Errorf("%d packages are installed, want %d", len(report.Outcomes), len(archives))
	}
	return took, err
}

// asked counts the requests to a registry.
type asked struct{ documents, archives int }

func (t *truth) requests() (a asked) {
	for _, kind := range []string{"versions", "package", "sums", "signature"} {
		a.documents += t.registry.Requests(kind)
	}
	a.archives = t.registry.Requests("archive")
	return a
}

// compare prints the results of a simulation and of real installations on this machine.
func compare(w io.Writer, runners int, scale float64, c costs) error {
	really, here, err := inTruth(runners, scale, c.connection)
	if err != nil {
		return err
	}
	expected := here.simulate(runners, scale, c)
	fmt.Fprintf(w, "%d installations at once on this machine, archives of %s. Each takes %.2f s of a processor, and together they had %.1f processors.\n\n%s",
		runners, bytes(expected.MirrorBytes/float64(runners)), here.perInstallation.Seconds(), here.cores, heading)
	err = errors.Join(print(w, scenario{}, "the simulation", expected, false), print(w, scenario{}, "in truth", really, false))
	fmt.Fprintf(w, "\nThe simulation says %.2f of the seconds that half of them take in truth.\n", expected.Median/really.Median)
	return err
}

// atOnce returns a scenario in which all runners start together.
func atOnce(scale float64) scenario {
	s := scenario{name: "all at once"}
	for _, size := range archives {
		s.archives = append(s.archives, size*scale)
	}
	return s
}
