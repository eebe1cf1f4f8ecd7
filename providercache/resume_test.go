package providercache_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

const widgetAddress = registryHost + "/acme/widget"

// newBreakable starts a registry with one package that is large enough to break off, and returns
// an Installer that retries quickly.
func newBreakable(tb testing.TB) (*providertest.Registry, *providercache.Installer, []byte) {
	tb.Helper()
	registry, in := newRegistry(tb)
	archive := zipOf(tb, map[string]string{"LICENSE": noise(5_000), "terraform-provider-widget": noise(400_000)})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Archive: archive})
	in.Fetcher.Client = impatient(tb, registry.Client().Transport)
	return registry, in, archive
}

// own is a transport that chooses its protocol itself.
type own struct{ http.RoundTripper }

// archiveRequests returns the requests for archives.
func archiveRequests(s *providertest.Server) (found []providertest.Request) {
	for _, req := range s.Log() {
		if req.Kind == "archive" {
			found = append(found, req)
		}
	}
	return found
}

// ranges returns which parts were requested.
func ranges(s *providertest.Server) string {
	var asked []string
	for _, req := range archiveRequests(s) {
		asked = append(asked, cmp.Or(strings.TrimPrefix(req.Header.Get("Range"), "bytes="), "all"))
	}
	return strings.Join(asked, " ")
}

// breakArchive applies faults to requests for archives, and counts only what is sent from then on.
func breakArchive(r *providertest.Registry, faults ...fault) {
	for i := len(faults) - 1; i >= 0; i-- { // the fault that was given last counts first
		r.Break("archive", faults[i])
	}
}

func TestResume_ABodyThatIsCutIsResumedWhereverItWasCut(t *testing.T) {
	t.Parallel()
	for _, protocol := range peertest.FirstIfShort(1, "HTTP/1.1", "HTTP/2.0") {
		_, _, archive := newBreakable(t)
		second := bytes.LastIndex(archive, []byte("PK\x03\x04"))
		directory := bytes.LastIndex(archive, []byte("PK\x01\x02"))
		for where, at := range map[string]int{
			"after a byte":                1,
			"in the first header":         10,
			"after its fixed part":        30,
			"after the first header":      30 + len("LICENSE"),
			"in the first entry":          2_500,
			"before the second entry":     second,
			"after the second header":     second + 30 + len("terraform-provider-widget"),
			"in the second entry":         second + 300_000,
			"in the directory":            directory + 7,
			"in the end record":           len(archive) - 22 + 3,
			"before the last byte":        len(archive) - 1,
			"in the middle of everything": len(archive) / 2,
		} {
			t.Run(protocol+" "+where, func(t *testing.T) {
				t.Parallel()
				registry, in, archive := newBreakable(t)
				in.Fetcher.Client = impatient(t, own{speaking(t, registry.Client(), protocol)})
				registry.Break("archive", fault{CutAfter: int64(at), Times: 1})
				before := registry.Sent()
				install(t, in, hosted, nil)
				requests := archiveRequests(registry.Server)
				if len(requests) != 2 || requests[0].Proto != protocol {
					t.Fatalf("asked for %q, first with %s", ranges(registry.Server), requests[0].Proto)
				}
				got := requests[1].Header
				if want := fmt.Sprintf("bytes=%d-", at); got.Get("Range") != want || !strings.HasPrefix(got.Get("If-Range"), `"`) {
					t.Errorf("Range %q, If-Range %q; want %q, and an ETag", got.Get("Range"), got.Get("If-Range"), want)
				}
				documents := 20_000 // what else is requested
				if sent := registry.Sent() - before; sent > int64(len(archive)+documents) {
					t.Errorf("%d bytes were sent for an archive of %d", sent, len(archive))
				}
			})
		}
	}
}

// anyTransport hides the type of a transport, so that it isn't replaced by one that speaks
// HTTP/1.1 for archives.
type anyTransport struct{ http.RoundTripper }

// speaking returns the transport of a server's client for one protocol.
func speaking(tb testing.TB, client *http.Client, protocol string) http.RoundTripper {
	if protocol == "HTTP/2.0" {
		return anyTransport{client.Transport}
	}
	old := client.Transport.(*http.Transport)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: old.TLSClientConfig.RootCAs}}
	tb.Cleanup(transport.CloseIdleConnections)
	return transport
}

func TestResume_WhatAServerMayDoWhenATransferIsResumed(t *testing.T) {
	t.Parallel()
	const cut = 100_000
	header := func(name string, values ...string) http.Header { return http.Header{name: values} }
	once := fault{CutAfter: cut, Times: 1}
	for name, c := range map[string]struct {
		faults []fault
		asked  string // "all", or from which byte
		is     error  // nil: it succeeds
		text   string // of the error
	}{
		"it stalls": {
			faults: []fault{{CutAfter: cut, Times: 1, Stall: true}}, asked: "all 100000-",
		},
		"it stalls before the first byte": {
			faults: []fault{{Stall: true, Times: 1}}, asked: "all all",
		},
		"it breaks off again and again": {
			faults: []fault{{CutAfter: cut, Times: 4}}, asked: "all 100000- 200000- 300000- 400000-",
		},
		"it breaks off too often": {
			faults: []fault{{CutAfter: 1000}}, is: getproviders.ErrUnreachable, text: "after 11000 of ",
			asked: "all 1000- 2000- 3000- 4000- 5000- 6000- 7000- 8000- 9000- 10000-",
		},
		"it is gone": {
			faults: []fault{once, {Status: 404}}, asked: "all 100000-", is: getproviders.ErrUnreachable, text: "404",
		},
		"it denies access": {
			faults: []fault{once, {Status: 403}}, asked: "all 100000-", is: getproviders.ErrUnauthorized, text: "403",
		},
		"it is busy for a moment": {
			faults: []fault{once, {Status: 503, RetryAfter: "0", Times: 2}}, asked: "all 100000- 100000- 100000-",
		},
		"it is busy for long": {
			faults: []fault{once, {Status: 503}}, asked: "all 100000- 100000- 100000-", is: getproviders.ErrUnreachable, text: "503",
		},
		"it has no parts and says so": {
			faults: []fault{{CutAfter: cut, Times: 1, NoRange: true, Header: header("Etag")}},
			asked:  "all all",
		},
		"it has no parts and doesn't say so": {
			faults: []fault{once, {NoRange: true}}, asked: "all 100000-",
		},
		"it has no parts and breaks off twice": {
			faults: []fault{once, {NoRange: true, CutAfter: cut}}, asked: "all 100000- 100000-", is: getproviders.ErrUnreachable, text: "after 100000 of ",
		},
		"it has a weak ETag": {
			faults: []fault{{CutAfter: cut, Times: 1, Header: header("Etag", `W/"a"`)}, {Header: header("Etag", `W/"a"`)}},
			asked:  "all 100000-",
		},
		"it has another weak ETag": {
			faults: []fault{{CutAfter: cut, Times: 1, Header: header("Etag", `W/"a"`)}, {Header: header("Etag", `W/"b"`)}},
			asked:  "all 100000- all",
		},
		"it sends another part": {
			faults: []fault{once, {Header: header("Content-Range", "bytes 5-10/20"), Times: 1}}, asked: "all 100000- all",
		},
		"it sends a part of nothing": {
			faults: []fault{once, {Header: header("Content-Range"), Times: 1}}, asked: "all 100000- all",
		},
		"it doesn't have the part": {
			faults: []fault{once, {Status: 416, Times: 1}}, asked: "all 100000- all",
		},
		"it encodes the rest": {
			faults: []fault{once, {Header: header("Content-Encoding", "br")}}, asked: "all 100000-", text: `"br"`,
		},
		"it had something else before": {
			faults: []fault{{CutAfter: cut, Times: 1, Body: func(b []byte) []byte { return append([]byte("other"), b...)[:len(b)] }}},
			asked:  "all 100000- all",
		},
		"it always has something else": {
			faults: []fault{once, {Body: func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) }}},
			asked:  "all 100000- all", is: getproviders.ErrAuthentication, text: "checksum",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, in, _ := newBreakable(t)
			breakArchive(registry, c.faults...)
			err := attempt(t, in, hosted, nil)
			must.Equal(t, ranges(registry.Server), c.asked)
			switch {
			case c.is == nil && c.text == "":
				succeed(t, err)
			case err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text):
				t.Errorf("got %v, want an error that matches %v, with %q", err, c.is, c.text)
			default:
				nothingLeft(t, in)
			}
		})
	}
}

// TestResume_ASignedURLMayExpireWhileItIsUsed: the URL that the registry
// names redirects to another place each time, which answers one request.
func TestResume_ASignedURLMayExpireWhileItIsUsed(t *testing.T) {
	t.Parallel()
	registry, in, archive := newBreakable(t)
	served := 0
	store := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if served++; req.URL.Query().Get("signature") != fmt.Sprint(served) {
			http.Error(w, "expired", http.StatusForbidden)
			return
		}
		w.Header().Set("Etag", `"same"`)
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(archive))
	})}))(t)
	t.Cleanup(store.Close)
	store.Break("other", fault{CutAfter: 150_000, Times: 2})
	for _, signature := range []int{3, 2, 1} {
		registry.Break("archive", fault{Redirect: fmt.Sprintf("%s/?signature=%d", store.BaseURL(), signature), Times: 1})
	}
	install(t, in, hosted, nil)
	var asked []string
	for _, req := range store.Log() {
		asked = append(asked, req.Header.Get("Range"))
	}
	must.Equal(t, fmt.Sprint(asked), fmt.Sprint([]string{"", "bytes=150000-", "bytes=300000-"}))
}

// TestResume_ResumingEndsWithTheContext: a cancelled download doesn't wait for its next attempt.
func TestResume_ResumingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	registry, in, _ := newBreakable(t)
	in.Fetcher.Client = must.Get(hosts.NewClient(hosts.ClientOptions{Base: registry.Client().Transport, RetryWaitMin: time.Hour, RetryWaitMax: time.Hour}))(t)
	registry.Break("archive", fault{CutAfter: 1000})
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.Progress && e.Done == 0 {
			time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
		}
	}
	if _, _, err := in.Install(ctx, hosted, nil, providercache.Normal); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	nothingLeft(t, in)
}

// TestResume_MemoryIsFlatWhileTransfersBreakOff counts all allocations.
func TestResume_MemoryIsFlatWhileTransfersBreakOff(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 16 MB")
	}
	registry, in := newRegistry(t)
	archive := zipOf(t, map[string]string{"terraform-provider-widget": noise(16 << 20)})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Archive: archive})
	in.Fetcher.Client = impatient(t, speaking(t, registry.Client(), "HTTP/1.1")) // HTTP/2 has buffers of its own
	registry.Break("archive", fault{CutAfter: int64(len(archive) / 8), Times: 8})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	install(t, in, hosted, nil)
	runtime.ReadMemStats(&after)
	got := after.TotalAlloc - before.TotalAlloc
	if got > uint64(len(archive)) { // about a quarter, plus what the race detector adds
		t.Errorf("%d bytes were allocated for a package of %d bytes that came in 9 parts", got, len(archive))
	}
}

// beforeArchives is a transport that calls a function before each request for an archive, with its number.
type beforeArchives struct {
	http.RoundTripper
	call func(n int)
	n    int
}

func (b *beforeArchives) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, ".zip") {
		b.n++
		b.call(b.n)
	}
	return b.RoundTripper.RoundTrip(req)
}

// TestResume_AURLThatHasExpired: if the signed URL of an archive expires before its
// first request, or before that for the rest, the archive is downloaded from the
// registry's new URL. The registry is asked once more for each refusal.
func TestResume_AURLThatHasExpired(t *testing.T) {
	t.Parallel()
	const cut = 100_000
	for name, c := range map[string]struct {
		expires func(n int) bool // before the nth request for an archive
		cut     int              // how many requests are cut off after so many bytes, if they have them
		refused bool             // the archive can't be had
		asked   string           // parts of the archive
		named   int              // how often the registry was asked for the package
	}{
		"before the first byte": {func(n int) bool { return n == 1 }, 0, false, "all all", 2},
		"before the rest":       {func(n int) bool { return n == 2 }, 1, false, "all 100000- 100000-", 2},
		"before both":           {func(n int) bool { return n%2 == 1 }, 2, false, "all all 100000- 100000-", 3},
		"always":                {func(int) bool { return true }, 0, true, "all all", 2},
		"not at all":            {func(int) bool { return false }, 0, true, "all", 2},
	} {
		for _, hashed := range []bool{false, true} { // while it arrives, and not installed
			registry, in, archive := newBreakable(t)
			registry.RenewURLs()
			in.Fetcher.Source = getproviders.Memoize(registry.Source())
			in.Fetcher.Client = impatient(t, &beforeArchives{RoundTripper: registry.Client().Transport, call: func(n int) {
				if c.expires(n) {
					registry.RenewURLs()
				}
			}})
			if c.refused && c.asked == "all" {
				registry.Break("archive", fault{Status: http.StatusForbidden})
			}
			if c.cut > 0 {
				registry.Break("archive", fault{CutAfter: cut, Times: c.cut})
			}
			var hashes []getproviders.Hash
			var err error
			if widget := registry.Provider("acme", "widget"); hashed {
				var all map[getproviders.Platform][]getproviders.Hash
				all, err = in.Fetcher.Hashes(t.Context(), widget, v1, onLinux)
				hashes = all[linux]
			} else {
				var got providercache.Installed
				got, err = in.Ensure(t.Context(), widget, getproviders.Constraints{})
				hashes = got.Hashes
			}
			if errors.Is(err, getproviders.ErrUnauthorized) != c.refused || c.refused == slices.Contains(hashes, zhOfBytes(archive)) {
				t.Errorf("%s: %v, %v", name, hashes, err)
			}
			must.Equal(t, ranges(registry.Server), c.asked, name, hashed)
			must.Equal(t, registry.Requests("package"), c.named, name, hashed)
		}
	}
}

// TestFetch_DocumentsWhoseURLsHaveExpired: the URLs of signed checksums may expire like that of the
// archive. The registry is asked once more, and no further.
func TestFetch_DocumentsWhoseURLsHaveExpired(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sums", "signature"} {
		for times, fails := range map[int]bool{1: false, 0: true} {
			registry, in, _ := newBreakable(t)
			registry.Break(kind, fault{Status: http.StatusForbidden, Times: times})
			in.Fetcher.Source = getproviders.Memoize(registry.Source())
			_, err := in.Ensure(t.Context(), registry.Provider("acme", "widget"), getproviders.Constraints{})
			if fails != errors.Is(err, getproviders.ErrUnauthorized) || !fails && err != nil || registry.Requests("package") != 2 {
				t.Errorf("%s is refused %d times: %v, asked for the package %d times", kind, times, err, registry.Requests("package"))
			}
		}
	}
}
