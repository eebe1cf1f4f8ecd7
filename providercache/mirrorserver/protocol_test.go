package mirrorserver_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

func TestHandler_ServesPartsAndHeads(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	content := contentOf("widget", "1.0.0", linux)
	for _, state := range []string{"arriving", "stored"} { // the first request of all begins the download
		part := server.get(archive, "Range: bytes=100-199")
		must.Equal(t, part.StatusCode, http.StatusPartialContent, state)
		must.EqualSlices(t, part.body, content[100:200], state)
		all := server.found(archive) // waits for the download
		tag := all.Header.Get("Etag")
		if all.Header.Get("Content-Type") != "application/zip" || tag == "" || tag != part.Header.Get("Etag") || all.ContentLength != int64(len(content)) {
			t.Errorf("%s: %v", state, all.Header)
		}
		rest := server.get(archive, "Range: bytes=20000-", "If-Range: "+tag)
		must.Equal(t, rest.StatusCode, http.StatusPartialContent, state)
		must.EqualSlices(t, rest.body, content[20000:], state)
		head := server.request(http.MethodHead, archive)
		if head.StatusCode != http.StatusOK || head.ContentLength != int64(len(content)) || len(head.body) > 0 {
			t.Errorf("%s: HEAD: %s, %d", state, head.Status, head.ContentLength)
		}
		must.Equal(t, server.get(archive, "Range: bytes=99999999-").StatusCode, http.StatusRequestedRangeNotSatisfiable, state)
	}
	// Several parts would be as many requests to the bucket.
	got := server.get(archive, "Range: bytes=0-0,2-2,4-4")
	must.Equal(t, got.StatusCode, http.StatusOK)
	must.EqualSlices(t, got.body, content)
	must.Equal(t, server.get(dir+"1.0.0.json", "If-None-Match: "+server.found(dir+"1.0.0.json").Header.Get("Etag")).StatusCode, http.StatusNotModified)
	must.Equal(t, server.request(http.MethodPost, archive).StatusCode, http.StatusMethodNotAllowed)
}

// TestHandler_PacksLargeLists: a long list goes over the network as gzip, to those that accept it, and no archive does.
func TestHandler_PacksLargeLists(t *testing.T) {
	m := newMirroring(t)
	for i := range 400 {
		m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: fmt.Sprintf("1.%d.0", i+1), Platform: linux, Archive: []byte("x")})
	}
	server := m.start()
	for _, path := range []string{dir + "index.json", dir + "versions"} {
		plain := server.found(path, "Accept-Encoding: gzip;q=0, br")
		packed := server.found(path, "Accept-Encoding: br, gzip")
		unpacked := must.Get(gzip.NewReader(bytes.NewReader(packed.body)))(t)
		if content, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(content, plain.body) || plain.Header.Get("Content-Encoding") != "" || len(packed.body) > len(plain.body)/4 {
			t.Errorf("%s: %v, %d bytes are packed to %d", path, err, len(plain.body), len(packed.body))
		}
		for _, got := range []answered{plain, packed} {
			encoding := "Accept-Encoding: " + cmp.Or(got.Header.Get("Content-Encoding"), "identity")
			if got.Header.Get("Vary") != "Accept-Encoding" || got.ContentLength != int64(len(got.body)) {
				t.Errorf("%s: %+v", path, got.Header)
			}
			server.status(path, http.StatusNotModified, encoding, "If-None-Match: "+got.Header.Get("Etag"))
			if head := server.request(http.MethodHead, path, encoding); head.ContentLength != got.ContentLength || head.Header.Get("Etag") != got.Header.Get("Etag") {
				t.Errorf("HEAD %s: %+v", path, head.Header)
			}
			server.found(path, encoding, "If-Match: "+got.Header.Get("Etag"))
			if other := server.status(path, http.StatusPreconditionFailed, encoding, `If-Match: "other"`); len(other.body) > 0 || other.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: what doesn't match is %+v", path, other.Header)
			}
		}
		if plain.Header.Get("Etag") == packed.Header.Get("Etag") {
			t.Error("both have one ETag")
		}
		must.EqualSlices(t, server.status(path, http.StatusPartialContent, "Accept-Encoding: gzip", "Range: bytes=10-19").body, plain.body[10:20], path)
	}
	got := server.found(archive, "Accept-Encoding: gzip")
	must.Equal(t, got.Header.Get("Content-Encoding"), "")
	must.Equal(t, got.Header.Get("Vary"), "")
}

// TestHandler_WorksWhileTheSourceIsDown: what was installed once can be installed again, after a restart, too.
func TestHandler_WorksWhileTheSourceIsDown(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	paths := []string{dir + "index.json", dir + "1.0.0.json", archive, dir + "terraform-provider-widget_1.0.0_SHA256SUMS", dir + "terraform-provider-widget_1.0.0_SHA256SUMS.sig"}
	for _, path := range paths {
		server.found(path)
	}
	server.settle()
	for _, fault := range []providertest.Fault{{Status: http.StatusServiceUnavailable}, {Status: http.StatusTooManyRequests}, {CutAfter: 1}} {
		m.clock.pass(48 * time.Hour)
		for _, kind := range []string{"discovery", "versions", "package", "sums", "signature", "archive"} {
			m.registry.Break(kind, fault)
		}
		restarted := m.start()
		for _, path := range paths {
			restarted.found(path)
		}
		must.Equal(t, restarted.get(dir+"2.0.0.json").StatusCode, http.StatusBadGateway)
	}
}

func TestHandler_AsksAgainInTime(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	index := func() string { return string(server.found(dir + "index.json").body) }
	index()
	m.add("widget", "1.1.0")
	m.clock.pass(4 * time.Minute)
	must.NotContain(t, index(), "1.1.0")
	must.Equal(t, m.registry.Requests("versions"), 1)
	m.clock.pass(2 * time.Minute)
	must.Contain(t, index(), "1.1.0", "a release isn't seen when the answer isn't fresh any more")
	// A failure is remembered for a short time, and the old answer counts.
	m.registry.Break("versions", providertest.Fault{Status: http.StatusForbidden})
	m.clock.pass(time.Hour)
	for range 3 {
		index()
	}
	must.Equal(t, m.registry.Requests("versions"), 3)
	must.Equal(t, server.stat("stale_total"), 1)
	m.registry.Break("versions", providertest.Fault{})
	m.clock.pass(11 * time.Second)
	index()
	must.Equal(t, m.registry.Requests("versions"), 4)
	// So is that there is no such provider.
	for range 3 {
		server.status(host+"acme/none/index.json", http.StatusNotFound)
	}
	m.add("none", "1.0.0")
	m.clock.pass(11 * time.Second)
	server.found(host + "acme/none/index.json")
	must.Equal(t, m.registry.Requests("versions"), 6)
}

func TestHandler_SignsTheURLsOfArchives(t *testing.T) {
	m := newMirroring(t)
	m.opts.Allow = only(func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer good" })
	m.opts.SigningKey = []byte("0123456789abcdef")
	server := m.start()
	for _, path := range []string{dir + "index.json", archive, host + "acme/none/index.json", "/nothing"} {
		must.Equal(t, server.status(path, http.StatusUnauthorized).Header.Get("WWW-Authenticate") != "", true, path)
	}
	document := server.found(dir+"1.0.0.json", "Authorization: Bearer good")
	must.Contain(t, document.Header.Get("Cache-Control"), "private")
	signed := dir + archivesOf(t, document)["linux_amd64"].URL
	server.found(signed)
	server.found(archive, "Authorization: Bearer good")
	_, query, _ := strings.Cut(signed, "?")
	server.status(dir+"terraform-provider-widget_1.0.0_darwin_arm64.zip?"+query, http.StatusUnauthorized)
	server.status(dir+"1.0.0.json?"+query, http.StatusUnauthorized)
	server.status(host+"other/widget/terraform-provider-widget_1.0.0_linux_amd64.zip?"+query, http.StatusUnauthorized)
	server.status("/other.example.com/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip?"+query, http.StatusUnauthorized)
	values := must.Get(url.ParseQuery(query))(t)
	values.Set("until", values.Get("until")+"0")
	server.status(archive+"?"+values.Encode(), http.StatusUnauthorized)
	m.clock.pass(31 * time.Minute)
	server.status(signed, http.StatusUnauthorized)
}

// TestHandler_KnowsForWhomItSignedAURL: the documents of a sender name it in their URLs, which are for no other name.
func TestHandler_KnowsForWhomItSignedAURL(t *testing.T) {
	m := newMirroring(t)
	m.opts.Allow = only(func(r *http.Request) bool { return r.Header.Get("Authorization") != "" })
	m.opts.SigningKey = []byte("0123456789abcdef")
	m.opts.Sender = func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }
	var admitted []string
	m.opts.Admitted = func(r *http.Request, sender string) { admitted = append(admitted, sender+" "+path.Base(r.URL.Path)) }
	server := m.start()

	const asked = dir + "1.0.0/download/linux/amd64"
	first := dir + archivesOf(t, server.found(dir+"1.0.0.json", "Authorization: Bearer team a&b"))["linux_amd64"].URL
	second := dir + archivesOf(t, server.found(dir+"1.0.0.json", "Authorization: Bearer ci"))["linux_amd64"].URL
	server.found(first)
	server.found(second)
	must.EqualSlices(t, admitted, []string{"team a&b terraform-provider-widget_1.0.0_linux_amd64.zip", "ci terraform-provider-widget_1.0.0_linux_amd64.zip"})

	admitted = nil
	server.status(strings.ReplaceAll(second, "who=ci", "who=other"), http.StatusUnauthorized)
	server.status(strings.ReplaceAll(second, "who=ci", ""), http.StatusUnauthorized)
	must.Len(t, admitted, 0)

	var described struct {
		Archive string `json:"download_url"`
		Sums    string `json:"shasums_url"`
	}
	must.Succeed(t, json.Unmarshal(server.found(asked, "Authorization: Bearer ci").body, &described))
	for _, at := range []string{described.Archive, described.Sums} {
		must.Contain(t, at, "who=ci")
		server.found(dir + strings.TrimPrefix(at, "../../../"))
	}
	must.Len(t, admitted, 2)
}

// only allows requests that have a condition.
func only(condition func(*http.Request) bool) func(*http.Request) error {
	return func(r *http.Request) error {
		if condition(r) {
			return nil
		}
		return errors.New("not shown to the client")
	}
}

// TestHandler_SaysWhatIsForbidden has a sender who is known, and may not have this provider. It learns nothing else.
func TestHandler_SaysWhatIsForbidden(t *testing.T) {
	m := newMirroring(t)
	m.opts.Allow = func(r *http.Request) error {
		if strings.Contains(r.URL.Path, "/acme/") {
			return fmt.Errorf("team a: %w", &mirrorserver.Forbidden{Reason: "team a has no access to acme"})
		}
		return nil
	}
	m.opts.SigningKey = []byte("0123456789abcdef")
	server := m.start()

	for _, path := range []string{dir + "index.json", archive, host + "acme/none/index.json"} {
		answer := server.status(path, http.StatusForbidden)
		must.Equal(t, strings.TrimSpace(string(answer.body)), `{"errors":["team a has no access to acme"]}`, path)
		must.Equal(t, answer.Header.Get("WWW-Authenticate"), "", path)
	}
	server.status(host+"other/none/index.json", http.StatusNotFound)
}

// TestHandler_SaysWhatAnUnauthorizedRequestLacks tells a token that is missing from one that isn't valid.
func TestHandler_SaysWhatAnUnauthorizedRequestLacks(t *testing.T) {
	m := newMirroring(t)
	m.opts.Allow = only(func(*http.Request) bool { return false })
	m.opts.SigningKey = []byte("0123456789abcdef")
	server := m.start()

	must.Contain(t, string(server.status(archive, http.StatusUnauthorized).body), "a token is missing")
	must.Contain(t, string(server.status(archive+"?until=1&signature=00", http.StatusUnauthorized).body), "this signed URL isn't valid")
	must.Contain(t, string(server.status(archive, http.StatusUnauthorized, "Authorization: Bearer bad").body), "this token isn't valid here")
}

// TestHandler_CountsArchivesThatWereSent: a request without an answer's body counts no archive, and parts count one together.
func TestHandler_CountsArchivesThatWereSent(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	sent := func() int64 { // clients have an archive before its request has ended
		await(t, func() bool { return server.stat("requests_running") == 0 })
		return server.stat(`archives_total{from="upstream"}`) + server.stat(`archives_total{from="store"}`)
	}

	for range 2 { // while it arrives, and from the bucket
		must.Equal(t, server.request(http.MethodHead, archive).StatusCode, http.StatusOK)
		server.settle()
	}
	must.Equal(t, sent(), 0)

	found := server.found(archive)
	must.Equal(t, sent(), 1)
	server.status(archive, http.StatusNotModified, "If-None-Match: "+found.Header.Get("Etag"))
	must.Equal(t, sent(), 1)

	server.status(archive, http.StatusPartialContent, "Range: bytes=0-99")
	must.Equal(t, sent(), 1)
	server.status(archive, http.StatusPartialContent, "Range: bytes=100-")
	must.Equal(t, sent(), 2)
}

func TestHandler_SaysWhatIsWrongWithAPath(t *testing.T) {
	m := newMirroring(t)
	server := m.start()
	for path, want := range map[string]string{
		"/.well-known/terraform.json":                            "not of a registry",
		"/v1/providers/acme/widget/versions":                     "not of a registry",
		"/acme/widget/index.json":                                "HOST/NAMESPACE/TYPE",
		host + "registry.example.com/acme/widget/index.json":     "ends before the host",
		host + "registry.example.com/acme/widget/1.0.0.json":     "ends before the host",
		"/acme/widget/versions":                                  "ends with the host",
		host + "ACME/widget/index.json":                          "not the address of a provider",
		strings.ToUpper(host) + "acme/widget/index.json":         "not the address of a provider",
		strings.ToUpper(host) + "acme/net/cloud/versions":        "not the address of a module",
		host + "../../etc/index.json":                            "",
		host + "acme/widget/%2e%2e%2fa":                          "is encoded",
		dir + "1.0.json":                                         "neither index.json",
		dir + "terraform-provider-gadget_1.0.0_linux_amd64.zip":  "neither index.json",
		dir + "terraform-provider-widget_1.0.0_plan9_amd64.zip":  "no package for plan9_amd64",
		dir + "terraform-provider-widget_01.0.0_linux_amd64.zip": "neither index.json",
		dir + "9.9.9.json":                                       "does not have version",
		host + "acme/nothing/index.json":                         "does not have a provider",
	} {
		got := server.get(path)
		if got.StatusCode != http.StatusNotFound || !strings.Contains(string(got.body), want) || want != "" && got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s: %s", path, got.Status, got.body)
		}
	}
	must.Equal(t, m.registry.Requests("archive"), 0)
}

var errDown = errors.New("the bucket is down")

// TestHandler_WorksWhileTheBucketIsDown: it isn't ready, and hands on what the registry has all the same.
func TestHandler_WorksWhileTheBucketIsDown(t *testing.T) {
	m := newMirroring(t)
	m.bucket = &installtest.Hooked{Bucket: m.bucket, Before: func(context.Context, installtest.Call) error { return errDown }}
	server := m.start()
	for range 2 {
		server.found(dir + "1.0.0.json")
		server.found(archive)
		server.settle()
	}
	must.Refuse(server.Ready(t.Context()))(t, "the server is ready")
	must.Fail(t, must.ErrorOf(server.Collect(t.Context(), mirrorserver.CollectOptions{MaxBytes: 1})), errDown)
	must.Equal(t, server.stat(`archives_total{from="upstream"}`), 2)
	must.Equal(t, server.stat("store_failures_total") > 0, true)
}

// TestHandler_AsksForAURLThatHasExpired: when the signed URL of an archive has expired, the server asks the source for
// another one.
func TestHandler_AsksForAURLThatHasExpired(t *testing.T) {
	m := newMirroring(t)
	m.registry.RenewURLs()
	var expire sync.Once // as soon as it is known
	server := m.serve(changed{getproviders.Memoize(m.source()), func(pkg *getproviders.Package) {
		if pkg.Platform == linux {
			expire.Do(m.registry.RenewURLs)
		}
	}})
	must.EqualSlices(t, server.found(archive).body, contentOf("widget", "1.0.0", linux))
	must.Equal(t, m.registry.Requests("archive"), 2)
}
