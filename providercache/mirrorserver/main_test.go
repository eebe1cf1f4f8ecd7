package mirrorserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	linux  = getproviders.Platform{OS: "linux", Arch: "amd64"}
	darwin = getproviders.Platform{OS: "darwin", Arch: "arm64"}
)

// clock is a clock that stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// mirroring is a registry, a bucket, and servers between them and a client.
type mirroring struct {
	tb       testing.TB
	registry *providertest.Registry
	bucket   blob.Bucket
	clock    *clock
	opts     mirrorserver.Options
	policy   func(context.Context, getproviders.Candidate) error
	choice   providercache.Choice
	limits   providercache.Limits
}

// newMirroring has a registry with acme/widget 1.0.0 for two platforms. The test runs beside others.
func newMirroring(t *testing.T) *mirroring {
	t.Parallel()
	m := &mirroring{tb: t, registry: providertest.New(t), bucket: blob.NewDirectory(t.TempDir()), clock: &clock{now: time.Unix(1_800_000_000, 0)}}
	m.opts = mirrorserver.Options{Temporary: t.TempDir()}
	m.add("widget", "1.0.0")
	return m
}

// contentOf returns incompressible content for a package; that of the type "large" arrives in several pieces.
func contentOf(providerType, version string, plat getproviders.Platform) []byte {
	random := strings.Builder{}
	state := uint32(len(providerType) + 7*len(version))
	size := 20_000
	if providerType == "large" {
		size = 200_000
	}
	for range size {
		state = state*1664525 + 1013904223
		random.WriteByte(byte(state >> 24))
	}
	return providertest.Zip(map[string]string{"terraform-provider-" + providerType: providerType + version + plat.String() + random.String()})
}

func (m *mirroring) add(providerType, version string) {
	for _, plat := range []getproviders.Platform{linux, darwin} {
		m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: providerType, Version: version, Platform: plat, Archive: contentOf(providerType, version, plat)})
	}
}

// source returns a source that asks the registry each time.
func (m *mirroring) source() getproviders.Source {
	source := m.registry.Source()
	source.VersionsMaxAge = time.Nanosecond
	return source
}

// running is a server with its address. Its requests to the source belong to the test that started it.
type running struct {
	*mirrorserver.Server
	tb    testing.TB
	front *httptest.Server
}

// start serves what the registry has.
func (m *mirroring) start() *running {
	m.tb.Helper()
	return m.serve(m.source())
}

// serve starts a server of a source.
func (m *mirroring) serve(source getproviders.Source) *running {
	m.tb.Helper()
	f := &providercache.Fetcher{Source: source, Platform: linux, Client: m.registry.Client(), Policy: m.policy, Choice: m.choice, Limits: m.limits, Now: m.clock.Now}
	server := must.Get(mirrorserver.Handler(f, m.bucket, m.opts))(m.tb)
	front := httptest.NewServer(server)
	front.Client().Timeout = soon
	m.tb.Cleanup(func() {
		server.Close()
		front.Close()
	})
	return &running{server, m.tb, front}
}

// serveLarge serves the archive at large, whose bytes the test writes to feed.
func (m *mirroring) serveLarge() (server *running, content []byte, feed *io.PipeWriter) {
	m.tb.Helper()
	m.add("large", "1.0.0")
	content = contentOf("large", "1.0.0", linux)
	gate, feed := io.Pipe()
	return m.serve(slowly(m.source(), content, gate)), content, feed
}

const (
	host    = "/" + string(providertest.Host) + "/"
	dir     = host + "acme/widget/"
	archive = dir + "terraform-provider-widget_1.0.0_linux_amd64.zip"
	large   = host + "acme/large/terraform-provider-large_1.0.0_linux_amd64.zip"
)

// archiveOf is the path of version 1.0.0 of another provider than acme/widget.
func archiveOf(name string) string { return strings.ReplaceAll(archive, "widget", name) }

// answered is a response, read to its end.
type answered struct {
	*http.Response
	body []byte
	err  error // why its end wasn't reached, or why there is no response
}

func (r *running) get(path string, headers ...string) answered {
	r.tb.Helper()
	return r.request(http.MethodGet, path, headers...)
}

// asking is get, whose answer comes later.
func (r *running) asking(path string, headers ...string) <-chan answered {
	got := make(chan answered, 1)
	go func() { got <- r.get(path, headers...) }()
	return got
}

// request asks for a path, with headers as "Name: value".
func (r *running) request(method, path string, headers ...string) answered {
	r.tb.Helper()
	req := must.Get(http.NewRequestWithContext(r.tb.Context(), method, r.front.URL+path, nil))(r.tb)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := r.front.Client().Do(req)
	if err != nil {
		return answered{&http.Response{}, nil, err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answered{resp, body, err}
}

// found asks for a path and gets what is there.
func (r *running) found(path string, headers ...string) answered {
	r.tb.Helper()
	return r.status(path, http.StatusOK, headers...)
}

// status asks for a path and wants a status.
func (r *running) status(path string, want int, headers ...string) answered {
	r.tb.Helper()
	got := r.get(path, headers...)
	if got.StatusCode != want || got.err != nil {
		r.tb.Fatalf("%s: %s, %v, want %d: %.300s", path, got.Status, got.err, want, got.body)
	}
	return got
}

// busy requests a path, and expects the answer to come again later, for a reason.
func (r *running) busy(path, why string) {
	r.tb.Helper()
	got := r.status(path, http.StatusServiceUnavailable)
	must.Equal(r.tb, got.Header.Get("Retry-After") != "", true, path)
	must.Contain(r.tb, string(got.body), why, path)
}

// wireArchive is an archive in VERSION.json.
type wireArchive struct {
	Hashes []getproviders.Hash `json:"hashes"`
	URL    string              `json:"url"`
}

func archivesOf(t *testing.T, got answered) map[string]wireArchive {
	t.Helper()
	var version struct {
		Archives map[string]wireArchive `json:"archives"`
	}
	must.Succeed(t, json.Unmarshal(got.body, &version))
	return version.Archives
}

// keys returns the keys in the bucket that contain part.
func (m *mirroring) keys(part string) (keys []string) {
	m.tb.Helper()
	for info, err := range m.bucket.List(context.Background(), "") {
		must.Succeed(m.tb, err)
		if strings.Contains(info.Key, part) {
			keys = append(keys, info.Key)
		}
	}
	return keys
}

// settle waits until downloaded archives are stored; clients have all bytes before that.
func (r *running) settle() {
	r.tb.Helper()
	await(r.tb, func() bool { return r.stat("downloads_running") == 0 })
}

// soon is when a test ends that waits for what doesn't happen.
const soon = 20 * time.Second

// await waits for something that happens soon.
func await(t testing.TB, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for !happened() {
		if par.Pause(ctx, time.Millisecond) != nil {
			t.Fatal("it doesn't happen")
		}
	}
}

// stat returns the sum of a server's counters with a name, with all labels or with those in the name.
func (r *running) stat(name string) (sum int64) {
	for _, s := range r.Stats() {
		if s.Name == name || strings.HasPrefix(s.Name, name+"{") {
			sum += s.Value
		}
	}
	return sum
}
