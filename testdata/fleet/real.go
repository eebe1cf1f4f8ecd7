package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// inTruth has so many installations start at once, each with a cache of its own, through a server of the engine on this
// machine. Archives have the size of those in the simulation times scale, and each connection to the registry
// gives so many bytes in a second. unpacked is how many bytes of archives this machine unpacks in a second.
func inTruth(runners int, scale, connection float64) (r result, unpacked float64, err error) {
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return r, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t, err := newTruth(dir, scale)
	if err != nil {
		return r, 0, err
	}
	defer t.registry.Close()
	if unpacked, err = t.unpackedPerSecond(); err != nil {
		return r, 0, err
	}
	t.registry.Break("archive", providertest.Fault{Rate: int64(connection)})
	server, err := mirrorserver.Handler(t.registry.Source(), blob.NewDirectory(filepath.Join(dir, "bucket")), mirrorserver.Options{
		Client: t.registry.Client(), Temporary: dir,
	})
	if err != nil {
		return r, 0, err
	}
	defer server.Close()
	front := httptest.NewServer(server)
	defer front.Close()
	before := t.requests()
	took, errs := par.Map(context.Background(), runners, numbers(runners), func(ctx context.Context, number int) (time.Duration, error) {
		mirror, err := getproviders.NewNetworkMirrorSource(front.URL+"/", front.Client(), nil, getproviders.Product{})
		if err != nil {
			return 0, err
		}
		mirror.Signers.Trusted = []getproviders.TrustedKey{{Armored: t.registry.Signer().Armored()}}
		return t.install(ctx, filepath.Join(dir, fmt.Sprint("runner", number)), &fetcher.Fetcher{Source: mirror, Client: front.Client()})
	})
	if err := errors.Join(errs...); err != nil {
		return r, 0, err
	}
	slices.Sort(took)
	stats, after := server.Stats(), t.requests()
	return result{
		Runners: runners, RegistryDocuments: after.documents - before.documents, RegistryArchives: after.archives - before.archives,
		RegistryBytes: float64(stats.DownloadedSize), MirrorRequests: int(stats.Requests), MirrorBytes: float64(stats.ServedSize),
		Median: took[len(took)/2].Seconds(), Slowest: took[len(took)*99/100].Seconds(),
	}, unpacked, nil
}

func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// truth is a registry with real archives, and what installations require of it.
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

// incompressible is content that takes as many bytes in an archive.
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

// unpackedPerSecond installs from the registry at full speed.
func (t *truth) unpackedPerSecond() (float64, error) {
	took, err := t.install(context.Background(), filepath.Join(t.dir, "alone"), &fetcher.Fetcher{Source: t.registry.Source(), Client: t.registry.Client()})
	return t.bytes / took.Seconds(), err
}

// install is one runner with an empty cache, which it removes again.
func (t *truth) install(ctx context.Context, dir string, f *fetcher.Fetcher) (took time.Duration, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f.StateDir = filepath.Join(dir, "state")
	installer := &providercache.Installer{Fetcher: f, Target: &store.Store{Dir: filepath.Join(dir, "providers")}}
	began := time.Now()
	_, report, err := installer.Install(ctx, t.required, &depsfile.Locks{}, resolve.Normal)
	took = time.Since(began)
	if err == nil && len(report.Outcomes) != len(archives) {
		err = fmt.Errorf("%d packages are installed, want %d", len(report.Outcomes), len(archives))
	}
	return took, err
}

// asked is how often a registry was.
type asked struct{ documents, archives int }

func (t *truth) requests() (a asked) {
	for _, kind := range []string{"versions", "package", "sums", "signature"} {
		a.documents += t.registry.Requests(kind)
	}
	a.archives = t.registry.Requests("archive")
	return a
}

// compare prints what a simulation says of this machine, and what is true.
func compare(w io.Writer, runners int, scale float64, c costs) error {
	really, unpacked, err := inTruth(runners, scale, c.connection)
	if err != nil {
		return err
	}
	expected := simulate(atOnce(scale), serve, runners, 1, thisMachine(c, unpacked), true)
	fmt.Fprintf(w, "%d installations at once on this machine, archives of %s, which unpacks %s in a second\n\n%s",
		runners, bytes(expected.MirrorBytes/float64(runners)), bytes(unpacked), heading)
	return errors.Join(print(w, scenario{}, "the simulation", expected, false), print(w, scenario{}, "in truth", really, false))
}

// atOnce is a scenario in which all runners start together.
func atOnce(scale float64) scenario {
	s := scenario{name: "all at once"}
	for _, size := range archives {
		s.archives = append(s.archives, size*scale)
	}
	return s
}

// thisMachine has no networks, and one processor for all.
func thisMachine(c costs, unpacked float64) costs {
	const memory = 1e12
	c.latency, c.uplink, c.runnerNetwork, c.bucketNetwork, c.replicaNetwork, c.unpack = 0, memory, memory, memory, memory, unpacked
	return c
}
