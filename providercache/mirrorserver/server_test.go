package mirrorserver_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

func TestHandler_ServesAllThatIsKnown(t *testing.T) {
	m := newMirroring(t)
	m.add("widget", "2.0.0-beta.1")
	server := m.start()
	index := server.found(dir + "index.json")
	want := "{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"2.0.0-beta.1\": {}\n  }\n}\n"
	must.Equal(t, string(index.body), want)
	must.Equal(t, index.Header.Get("Content-Type"), "application/json")
	for _, plat := range []getproviders.Platform{linux, darwin} {
		h1, sum := hashesOf(t, contentOf("widget", "1.0.0", plat))
		server.status(dir+m.registry.Provider("acme", "widget").PackedName(getproviders.MustParseVersion("1.0.0"), plat), http.StatusOK)
		server.settle()
		archives := archivesOf(t, server.found(dir+"1.0.0.json"))
		must.Len(t, archives, 2)
		must.EqualSlices(t, archives[plat.String()].Hashes, []getproviders.Hash{h1, sum})
	}
}

// TestHandler_IsAMirrorForTfdeps lets a client of the mirror verify the signature of the registry's packages.
func TestHandler_IsAMirrorForTfdeps(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	mirror := must.Get(getproviders.NewNetworkMirrorSource(server.front.URL+"/", server.front.Client(), nil, getproviders.Product{}))(t)
	mirror.Signers.Trusted = []getproviders.TrustedKey{{Armored: m.registry.Signer().Armored()}}
	p, v := m.registry.Provider("acme", "widget"), getproviders.MustParseVersion("1.0.0")
	pkg := must.Get(mirror.Package(t.Context(), p, v, linux))(t)
	client := &providercache.Fetcher{Source: mirror, Client: server.front.Client()}
	got := must.Get(client.Opened().HashPackage(t.Context(), fetch.Request{Package: pkg, Selection: getproviders.Selection{Provider: p, Version: v}}))(t)
	must.Equal(t, got.Authentication.TrustLevel, getproviders.LevelCommunity)
	must.Len(t, got.Authentication.Signed, 2)
}

// changed is a source that changes packages of another one.
type changed struct {
	getproviders.Source
	change func(*getproviders.Package)
}

func (c changed) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	pkg, err := c.Source.Package(ctx, p, v, plat)
	c.change(&pkg)
	return pkg, err
}

// slow is an archive that arrives as a test lets it.
type slow struct {
	content []byte
	gate    io.Reader
}

// slowly returns one slow archive for all packages.
func slowly(source getproviders.Source, content []byte, gate io.Reader) getproviders.Source {
	return changed{source, func(pkg *getproviders.Package) { pkg.Location = slow{content, gate} }}
}

func (slow) String() string { return "slow" }

func (s slow) Open(context.Context, int64) (getproviders.OpenedArchive, error) {
	return getproviders.OpenedArchive{Body: io.NopCloser(s.gate), Size: int64(len(s.content))}, nil
}

func TestHandler_SendsWhatArrives(t *testing.T) {
	m := newMirroring(t)
	server, content, feed := m.serveLarge()
	go feed.Write(content[:100_000])
	resp := must.Get(server.front.Client().Get(server.front.URL + large))(t)
	defer resp.Body.Close()
	first := make([]byte, 8000)
	must.Get(io.ReadFull(resp.Body, first))(t)
	must.EqualSlices(t, first, content[:8000])
	go func() {
		_, _ = feed.Write(content[100_000:])
		feed.Close()
	}()
	must.EqualSlices(t, must.Get(io.ReadAll(resp.Body))(t), content[8000:])
}

func TestHandler_SendsAnArchiveOfUnknownSize(t *testing.T) {
	m := newMirroring(t)
	m.registry.Break("archive", providertest.Fault{Header: http.Header{"Content-Length": nil}})
	must.EqualSlices(t, m.start().found(archive).body, contentOf("widget", "1.0.0", linux))
}

// TestHandler_DownloadsOnWhenTheClientHasLeft: the next one gets what the first one has begun.
func TestHandler_DownloadsOnWhenTheClientHasLeft(t *testing.T) {
	m := newMirroring(t)
	server, content, feed := m.serveLarge()
	ctx, leave := context.WithCancel(t.Context())
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, server.front.URL+large, nil))(t)
	go feed.Write(content[:100_000])
	resp := must.Get(server.front.Client().Do(req))(t)
	leave()
	resp.Body.Close()
	must.Get(feed.Write(content[100_000:]))(t) // after the first part is taken
	feed.Close()
	must.EqualSlices(t, server.found(large).body, content)
	must.Equal(t, server.stat("downloads_total"), 1)
}

// TestHandler_ServesNoArchiveThatTheSourceDoesNotName: the key of an archive says what it is, and another one may be of
// a version that was published again, or have been put there by others.
func TestHandler_ServesNoArchiveThatTheSourceDoesNotName(t *testing.T) {
	m := newMirroring(t)
	key := "providers" + dir + "1.0.0/archives/linux_amd64." + strings.Repeat("00", 32) + "." + strings.Repeat("A", 43) + ".zip"
	must.Get(m.bucket.Put(t.Context(), key, blob.Bytes([]byte("another one")), blob.PutOptions{}))(t)
	server := m.start()
	must.EqualSlices(t, server.found(archive).body, contentOf("widget", "1.0.0", linux))
	hashes := archivesOf(t, server.found(dir+"1.0.0.json"))["linux_amd64"].Hashes
	must.NotContain(t, hashes, strings.Repeat("00", 32))
}

func TestServer_CloseEndsDownloads(t *testing.T) {
	m := newMirroring(t)
	server, content, feed := m.serveLarge()
	go feed.Write(content[:100_000])
	closed := make(chan struct{})
	go func() {
		await(t, func() bool { return server.stat("downloads_running") > 0 })
		feed.CloseWithError(errors.New("cut off")) // as a connection's end would be
		server.Close()
		close(closed)
	}()
	got := server.get(large)
	<-closed
	if got.err == nil && got.StatusCode == http.StatusOK {
		t.Error("a download that was ended was taken for a whole one")
	}
	must.Len(t, must.Get(os.ReadDir(m.opts.Temporary))(t), 0, "left behind")
	if got := server.get(large); got.StatusCode != http.StatusServiceUnavailable && got.StatusCode != http.StatusBadGateway {
		t.Errorf("after the end: %s", got.Status)
	}
}

func TestHandler_RefusesWhatThePolicyRefuses(t *testing.T) {
	m := newMirroring(t)
	var states []getproviders.CandidateState
	var refuse, refuseFetched error
	m.policy = func(_ context.Context, c getproviders.Candidate) error {
		states = append(states, c.State)
		if c.Authentication.TrustLevel < getproviders.LevelCommunity {
			return errors.New("the signature isn't known")
		}
		if c.State == getproviders.StateFetched {
			return cmp.Or(refuse, refuseFetched)
		}
		return refuse
	}
	server := m.start()
	refuse = errors.New("not here")
	must.Contain(t, string(server.status(archive, http.StatusForbidden).body), "not here")
	must.Equal(t, m.registry.Requests("archive"), 0)
	server.settle()
	refuse, refuseFetched = nil, errors.New("not this one")
	// What is streamed before the policy has decided breaks off.
	if got := server.get(archive); got.err == nil && got.StatusCode != http.StatusForbidden {
		t.Errorf("%s", got.Status)
	}
	server.settle()
	refuseFetched = nil
	server.found(archive)
	server.settle()
	server.found(archive)
	refuse = errors.New("not any more")
	must.Contain(t, string(server.status(archive, http.StatusForbidden).body), "not any more")
	// Another server finds it only when it has its turn to download it.
	failures := map[string]error{"list": errExpired}
	m.bucket = &installtest.Hooked{Bucket: m.bucket, Before: func(_ context.Context, c installtest.Call) error {
		defer delete(failures, c.Op)
		return failures[c.Op]
	}}
	m.start().status(archive, http.StatusForbidden)
	must.Equal(t, fmt.Sprint(states), "[known known fetched known fetched cached cached cached]")
}

// TestHandler_AsksThePolicyWithTheTimeOfPublication: an archive is as old when it is served from the bucket, by any server of it, as it was
// when it came from the registry. One of an earlier version, whose key has no time, is as old as its object.
func TestHandler_AsksThePolicyWithTheTimeOfPublication(t *testing.T) {
	m := newMirroring(t)
	published := time.Unix(1_700_000_000, 0)
	m.registry.Break("archive", providertest.Fault{Header: http.Header{"Last-Modified": {published.UTC().Format(http.TimeFormat)}}})
	var released []time.Time
	m.policy = func(_ context.Context, c getproviders.Candidate) error {
		if c.State != getproviders.StateKnown {
			released = append(released, c.Released)
		}
		return nil
	}
	server := m.serve(m.source())
	server.status(archive, http.StatusOK)
	server.settle()
	server.status(archive, http.StatusOK)
	other := m.serve(m.source())
	other.status(archive, http.StatusOK)
	if len(released) != 3 || slices.ContainsFunc(released, func(at time.Time) bool { return !at.Equal(published) }) {
		t.Errorf("released at %v, want at %v", released, published)
	}
	key := m.keys("/archives/")[0]
	content, info, err := blob.ReadAll(t.Context(), m.bucket, key, 1<<20)
	must.Succeed(t, errors.Join(err, m.bucket.Delete(t.Context(), key)))
	must.Get(m.bucket.Put(t.Context(), strings.Replace(key, ".1700000000.zip", ".zip", 1), blob.Bytes(content), blob.PutOptions{}))(t)
	again := m.serve(m.source())
	again.status(archive, http.StatusOK)
	if age := released[3].Sub(info.Modified); again.stat(`archives_total{from="store"}`) != 1 || age < 0 || age > time.Minute {
		t.Errorf("released at %v, %+v", released[3], again.Stats())
	}
}

func TestHandler_ServesWhatIsIncluded(t *testing.T) {
	m := newMirroring(t)
	m.add("gadget", "1.0.0")
	pattern := func(text string) getproviders.Pattern {
		return must.Get(getproviders.Terraform("1.15.9").ParsePattern(text))(t)
	}
	m.opts.Include, m.opts.Exclude = []getproviders.Pattern{pattern("registry.example.com/acme/*")}, []getproviders.Pattern{pattern("registry.example.com/acme/gadget")}
	server := m.start()
	server.found(dir + "index.json")
	server.status(host+"acme/gadget/index.json", http.StatusNotFound)
	server.status(host+"other/widget/index.json", http.StatusNotFound)
	must.Equal(t, m.registry.Requests("versions"), 1)
}

// TestHandler_StoresNothingWithoutTrust: an archive that nothing authenticates is served, but not stored.
func TestHandler_StoresNothingWithoutTrust(t *testing.T) {
	m := newMirroring(t)
	content := contentOf("widget", "1.0.0", linux)
	server := m.serve(&getproviders.FilesystemMirrorSource{Dir: writeMirror(t)})
	must.EqualSlices(t, server.found(archive).body, content)
	must.Len(t, m.keys(".zip"), 0)
}

// writeMirror makes a directory that is a mirror with one archive, about which nothing is signed.
func writeMirror(t *testing.T) (local string) {
	t.Helper()
	local = t.TempDir()
	must.Write(t, local+archive, contentOf("widget", "1.0.0", linux))
	return local
}

func TestHandler_RefusesOptionsThatCantWork(t *testing.T) {
	m := newMirroring(t)
	must.Refuse(mirrorserver.Handler(nil, m.bucket, mirrorserver.Options{}))(t, "no source is no error")
	must.Refuse(mirrorserver.Handler(&providercache.Fetcher{Source: m.source()}, m.bucket, mirrorserver.Options{SigningKey: []byte("short")}))(t, "a short key is no error")
}

// hashesOf are the hashes of an archive.
func hashesOf(t *testing.T, content []byte) (h1, zh getproviders.Hash) {
	t.Helper()
	path := t.TempDir() + "/a.zip"
	must.Succeed(t, os.WriteFile(path, content, 0o600))
	h1, zh, err := providercache.HashPackage(t.Context(), path)
	must.Succeed(t, err)
	return h1, zh
}
