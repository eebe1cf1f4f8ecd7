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
	server, front := m.start(t)
	index := found(t, front, dir+"index.json")
	want := "{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"2.0.0-beta.1\": {}\n  }\n}\n"
	must.Equal(t, string(index.body), want)
	must.Equal(t, index.Header.Get("Content-Type"), "application/json")
	for _, plat := range []getproviders.Platform{linux, darwin} {
		h1, sum := hashesOf(t, contentOf("widget", "1.0.0", plat))
		status(t, front, dir+m.registry.Provider("acme", "widget").PackedName(getproviders.MustParseVersion("1.0.0"), plat), http.StatusOK)
		settle(t, server)
		archives := archivesOf(t, found(t, front, dir+"1.0.0.json"))
		must.Len(t, archives, 2)
		must.EqualSlices(t, archives[plat.String()].Hashes, []getproviders.Hash{h1, sum})
	}
}

// TestHandler_IsAMirrorForTfdeps has the signature of the registry's packages verified by a client of the mirror.
func TestHandler_IsAMirrorForTfdeps(t *testing.T) {
	m := newMirroring(t)
	_, front := m.start(t)
	mirror := must.Get(getproviders.NewNetworkMirrorSource(front.URL+"/", front.Client(), nil, getproviders.Product{}))(t)
	mirror.Signers.Trusted = []getproviders.TrustedKey{{Armored: m.registry.Signer().Armored()}}
	p, v := m.registry.Provider("acme", "widget"), getproviders.MustParseVersion("1.0.0")
	pkg := must.Get(mirror.Package(t.Context(), p, v, linux))(t)
	client := &providercache.Fetcher{Source: mirror, Client: front.Client()}
	got := must.Get(client.Opened().HashPackage(t.Context(), fetch.Request{Package: pkg, Selection: getproviders.Selection{Provider: p, Version: v}}))(t)
	must.Equal(t, got.Authentication.TrustLevel, getproviders.LevelCommunity)
	must.Len(t, got.Authentication.Signed, 2)
}

// changed is a source of which packages are changed.
type changed struct {
	getproviders.Source
	change func(*getproviders.Package)
}

func (c changed) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	pkg, err := c.Source.Package(ctx, p, v, plat)
	c.change(&pkg)
	return pkg, err
}

// slow is an archive that comes as a test lets it.
type slow struct {
	content []byte
	gate    io.Reader
}

// slowly has all archives be one.
func slowly(source getproviders.Source, content []byte, gate io.Reader) getproviders.Source {
	return changed{source, func(pkg *getproviders.Package) { pkg.Location = slow{content, gate} }}
}

func (slow) String() string { return "slow" }

func (s slow) Open(context.Context, int64) (getproviders.OpenedArchive, error) {
	return getproviders.OpenedArchive{Body: io.NopCloser(s.gate), Size: int64(len(s.content))}, nil
}

func TestHandler_SendsWhatArrives(t *testing.T) {
	m := newMirroring(t)
	_, front, content, feed := m.serveLarge(t)
	go feed.Write(content[:100_000])
	resp := must.Get(front.Client().Get(front.URL + large))(t)
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

// TestHandler_DownloadsOnWhenTheClientHasLeft: the next one gets what the first one has begun.
func TestHandler_DownloadsOnWhenTheClientHasLeft(t *testing.T) {
	m := newMirroring(t)
	server, front, content, feed := m.serveLarge(t)
	ctx, leave := context.WithCancel(t.Context())
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, front.URL+large, nil))(t)
	go feed.Write(content[:100_000])
	resp := must.Get(front.Client().Do(req))(t)
	leave()
	resp.Body.Close()
	must.Get(feed.Write(content[100_000:]))(t) // after the first part is taken
	feed.Close()
	must.EqualSlices(t, found(t, front, large).body, content)
	must.Equal(t, stat(server, "downloads_total"), 1)
}

// TestHandler_ServesNoArchiveThatTheSourceDoesNotName: the key of an archive says what it is, and another one may be of
// a version that was published again, or have been put there by others.
func TestHandler_ServesNoArchiveThatTheSourceDoesNotName(t *testing.T) {
	m := newMirroring(t)
	key := "providers" + dir + "1.0.0/archives/linux_amd64." + strings.Repeat("00", 32) + "." + strings.Repeat("A", 43) + ".zip"
	must.Get(m.bucket.Put(t.Context(), key, blob.Bytes([]byte("another one")), blob.PutOptions{}))(t)
	_, front := m.start(t)
	must.EqualSlices(t, found(t, front, archive).body, contentOf("widget", "1.0.0", linux))
	hashes := archivesOf(t, found(t, front, dir+"1.0.0.json"))["linux_amd64"].Hashes
	must.NotContain(t, hashes, strings.Repeat("00", 32))
}

func TestServer_CloseEndsDownloads(t *testing.T) {
	m := newMirroring(t)
	server, front, content, feed := m.serveLarge(t)
	go feed.Write(content[:100_000])
	closed := make(chan struct{})
	go func() {
		await(t, func() bool { return stat(server, "downloads_running") > 0 })
		feed.CloseWithError(errors.New("cut off")) // as a connection's end would be
		server.Close()
		close(closed)
	}()
	resp, err := front.Client().Get(front.URL + large) // may end before there is a status, too
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	<-closed
	if err == nil && resp.StatusCode == http.StatusOK {
		t.Error("a download that was ended was taken for a whole one")
	}
	left, err := os.ReadDir(m.opts.Temporary)
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if got := get(t, front, large); got.StatusCode != http.StatusServiceUnavailable && got.StatusCode != http.StatusBadGateway {
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
	server, front := m.start(t)
	refuse = errors.New("not here")
	must.Contain(t, string(status(t, front, archive, http.StatusForbidden).body), "not here")
	must.Equal(t, m.registry.Requests("archive"), 0)
	settle(t, server)
	refuse, refuseFetched = nil, errors.New("not this one")
	// What is streamed before the policy has decided breaks off.
	if got := get(t, front, archive); got.err == nil && got.StatusCode != http.StatusForbidden {
		t.Errorf("%s", got.Status)
	}
	settle(t, server)
	refuseFetched = nil
	found(t, front, archive)
	settle(t, server)
	found(t, front, archive)
	refuse = errors.New("not any more")
	must.Contain(t, string(status(t, front, archive, http.StatusForbidden).body), "not any more")
	must.Equal(t, fmt.Sprint(states), "[known known fetched known fetched cached cached]")
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
	server, front := m.serve(t, m.source())
	status(t, front, archive, http.StatusOK)
	settle(t, server)
	status(t, front, archive, http.StatusOK)
	_, other := m.serve(t, m.source())
	status(t, other, archive, http.StatusOK)
	if len(released) != 3 || slices.ContainsFunc(released, func(at time.Time) bool { return !at.Equal(published) }) {
		t.Errorf("released at %v, want at %v", released, published)
	}
	key := keysIn(t, m.bucket, "/archives/")[0]
	content, info, err := blob.ReadAll(t.Context(), m.bucket, key, 1<<20)
	must.Succeed(t, errors.Join(err, m.bucket.Delete(t.Context(), key)))
	must.Get(m.bucket.Put(t.Context(), strings.Replace(key, ".1700000000.zip", ".zip", 1), blob.Bytes(content), blob.PutOptions{}))(t)
	again, third := m.serve(t, m.source())
	status(t, third, archive, http.StatusOK)
	if age := released[3].Sub(info.Modified); stat(again, `archives_total{from="store"}`) != 1 || age < 0 || age > time.Minute {
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
	_, front := m.start(t)
	found(t, front, dir+"index.json")
	status(t, front, host+"acme/gadget/index.json", http.StatusNotFound)
	status(t, front, host+"other/widget/index.json", http.StatusNotFound)
	must.Equal(t, m.registry.Requests("versions"), 1)
}

// TestHandler_StoresNothingWithoutTrust: an archive by which nothing is said can be had, and isn't kept.
func TestHandler_StoresNothingWithoutTrust(t *testing.T) {
	m := newMirroring(t)
	content := contentOf("widget", "1.0.0", linux)
	_, front := m.serve(t, &getproviders.FilesystemMirrorSource{Dir: writeMirror(t)})
	must.EqualSlices(t, found(t, front, archive).body, content)
	must.Len(t, keysIn(t, m.bucket, ".zip"), 0)
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
