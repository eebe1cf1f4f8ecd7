package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// object is a JSON object.
type object = map[string]any

// fake is a registry with one version, which a test changes.
type fake struct {
	index, manifest object
	layer           string
	changed         string                   // of this in its path
	change          func(body []byte) []byte // a body on its way
	elsewhere       string                   // where blobs are; "": here
	manifestType    string
}

// newFake has a package for linux.
func newFake() *fake {
	layer := "archive one"
	return &fake{layer: layer, manifestType: "application/vnd.oci.image.index.v1+json",
		manifest: object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": "application/vnd.opentofu.provider-target",
			"layers": []object{{"mediaType": "text/plain", "digest": digest.FromString("x"), "size": 1}, {"mediaType": "archive/zip", "digest": digest.FromString(layer), "size": len(layer)}}},
		index: object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "artifactType": "application/vnd.opentofu.provider"}}
}

// documents are the index, which has the manifest unless a test replaces it, and the manifest.
func (f *fake) documents() (index, manifest []byte) {
	manifest, _ = json.Marshal(f.manifest)
	if f.index["manifests"] == nil {
		f.index["manifests"] = []object{target1(manifest, "linux", "")}
	}
	index, _ = json.Marshal(f.index)
	return index, manifest
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if user, _, _ := r.BasicAuth(); user != "robot" {
		w.Header().Set("WWW-Authenticate", `Basic realm="tests"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	index, body := f.documents()
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/manifests/1.0.0"):
		body = index
		w.Header().Set("Content-Type", f.manifestType)
		w.Header().Set("Docker-Content-Digest", string(digest.FromBytes(body)))
	case strings.Contains(path, "/manifests/"):
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	case f.elsewhere != "":
		http.Redirect(w, r, f.elsewhere+"?signature=secret1", http.StatusTemporaryRedirect)
		return
	default:
		body = []byte(f.layer)
	}
	if f.change != nil && strings.Contains(r.URL.Path, f.changed) {
		body = f.change(body)
	}
	_, _ = w.Write(body)
}

func target1(manifest []byte, os, osVersion string) object {
	return object{"mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": "application/vnd.opentofu.provider-target",
		"digest": digest.FromBytes(manifest), "size": len(manifest), "platform": object{"os": os, "architecture": "amd64", "os.version": osVersion}}
}

// sourceOf returns the repository "widget" of a fake registry, with its login, if it requires one.
func sourceOf(server *httptest.Server, login Login) *Source {
	host := strings.TrimPrefix(server.URL, "https://")
	logins := &Logins{Blocks: []LoginBlock{{Prefix: host, Login: login}}}
	return &Source{Client: &Client{HTTP: server.Client(), Logins: logins.Find}, Repository: func(getproviders.Provider) (Repository, error) {
		return ParseRepository(host + "/widget")
	}}
}

// ask requests the package from the fake.
func (f *fake) ask(t *testing.T) (getproviders.Package, error) {
	t.Helper()
	return sourceOf(serve(t, f.ServeHTTP), robot).Package(t.Context(), widget, v1, linux)
}

// The caller's meter, such as a server's memory limit, counts the memory of decoding before it is allocated.
func TestSource_CountsWhatItReads(t *testing.T) {
	t.Parallel()
	full := errors.New("the memory is taken")
	for room, want := range map[int64]error{0: full, 1000: full, 5000: full, 1 << 20: nil} {
		f, left := newFake(), room
		f.index["annotations"] = object{"long": strings.Repeat(",", 60)}
		must.Fail(t, must.ErrorOf(sourceOf(serve(t, f.ServeHTTP), robot).Package(hosts.WithMeter(t.Context(), func(_ context.Context, bytes int64) error {
			if left -= bytes; left < 0 {
				return full
			}
			return nil
		}), widget, v1, linux)), want, room)
	}
}

// TestSource_RefusesSizesAndDigestsThatLie has other content than a provider's package, and descriptors and a header that contradict their
// content, or have impossible sizes.
func TestSource_RefusesSizesAndDigestsThatLie(t *testing.T) {
	t.Parallel()
	other := []byte("{}")
	layers := func(d any, size, n int) func(f *fake) {
		layer := object{"mediaType": "archive/zip", "digest": d, "size": size}
		return func(f *fake) { f.manifest["layers"] = slices.Repeat([]object{layer}, n) }
	}
	descriptor := func(name string, value any) func(f *fake) {
		return func(f *fake) {
			_, manifest := f.documents()
			d := target1(manifest, "linux", "")
			d[name] = value
			f.index["manifests"] = []object{d}
		}
	}
	changed := func(path string, change func(body []byte) []byte) func(f *fake) {
		return func(f *fake) { f.changed, f.change = path, change }
	}
	for name, test := range map[string]struct {
		spoil func(f *fake)
		want  string
	}{
		"a manifest for an index":  {func(f *fake) { f.manifestType = "application/vnd.oci.image.manifest.v1+json" }, "media type"},
		"a module":                 {func(f *fake) { f.index["artifactType"] = "application/vnd.opentofu.modulepkg" }, "artifact type"},
		"another kind of artifact": {func(f *fake) { f.manifest["artifactType"] = "other" }, "has the media "},
		"no archive":               {layers("", 0, 0), "0 layers"},
		"two archives":             {layers(digest.FromString("x"), 1, 2), "2 layers"},
		"SHA-512":                  {layers(digest.SHA512.FromString("x"), 1, 1), "not a SHA-256"},
		"a digest of no digits":    {layers("sha256:"+strings.Repeat("Z", 64), 1, 1), "not a SHA-256"},
		"an archive of no size":    {layers(digest.FromString("x"), 0, 1), "without a size"},
		"a platform twice": {func(f *fake) {
			f.index["manifests"] = []object{target1(other, "linux", ""), target1(other, "linux", "")}
		}, "several targets"},
		"other platforms": {func(f *fake) {
			f.index["manifests"] = []object{target1(other, "linux", "10"), target1(other, "plan9", "")}
		}, "available for linux_amd64"},
		"a large manifest":                   {descriptor("size", 4<<20+1), "may have 4194304"},
		"an index in an index":               {descriptor("mediaType", "application/vnd.oci.image.index.v1+json"), "that isn't an image ma"},
		"a path for a digest":                {descriptor("digest", "sha256:../../../x"), "has the digest"},
		"another size":                       {descriptor("size", 3), "mismatch"},
		"a size below zero":                  {descriptor("size", -1), "mismatch Content-Length"},
		"another manifest":                   {changed("/manifests/sha256:", func(body []byte) []byte { body[0] = '['; return body }), "mismatch"},
		"megabytes of nothing":               {changed("/1.0.0", func(body []byte) []byte { return append(body, make([]byte, 5<<20)...) }), "unknown response Content-Length"},
		"another index than the header says": {changed("/1.0.0", func(body []byte) []byte { return bytes.Replace(body, []byte("linux"), []byte("LINUX"), 1) }), "mismatched digest"},
	} {
		f := newFake()
		test.spoil(f)
		must.Contain(t, must.ErrorOf(f.ask(t)), test.want, name)
	}
}

// TestArchive_TakesNoLoginElsewhere lets the registry redirect its clients to another host, which requires a login,
// too.
func TestArchive_TakesNoLoginElsewhere(t *testing.T) {
	t.Parallel()
	var told atomic.Value
	told.Store("")
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		told.Store(told.Load().(string) + r.Header.Get("Authorization"))
		w.Header().Set("WWW-Authenticate", `Basic realm="tests"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	f := newFake()
	f.elsewhere = other.URL + "/blob"
	pkg := must.Get(f.ask(t))(t)
	_, err := pkg.Location.(getproviders.Archive).Open(t.Context(), 0)
	must.Equal(t, told.Load(), "")
	must.Fail(t, err, getproviders.ErrUnauthorized)
	must.NotContain(t, err.Error(), "secret1")
}

func TestArchive_EndsWhereTheManifestSaysSo(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.changed, f.change = "/blobs/", func(body []byte) []byte { return append(body, 'x') }
	pkg := must.Get(f.ask(t))(t)
	must.Fail(t, must.ErrorOf(pkg.Trust.Authenticator.Authenticate(getproviders.Digests{SHA256: [32]byte{1}})), getproviders.ErrAuthentication)
	opened := must.Get(pkg.Location.(getproviders.Archive).Open(t.Context(), 0))(t)
	defer opened.Body.Close()
	if n, err := opened.Body.Read(make([]byte, 100)); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// tagged returns the index of version 1.0.0, or sets the tag to another one.
func (s started) tagged(t *testing.T, method string, index []byte) []byte {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, "https://"+s.Host+"/v2/"+s.at.Name+"/manifests/1.0.0", bytes.NewReader(index)))(t)
	req.Header.Set("Accept", "application/vnd.oci.image.index.v1+json")
	req.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
	resp := must.Get(s.Client.Do(req))(t)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Errorf("%s: %s %v", method, resp.Status, err)
	}
	return content
}

// before returns a client that passes each request to f first, which may respond instead of the
// registry.
func before(client *http.Client, f func(*http.Request) *http.Response) *http.Client {
	return &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		answer := f(r)
		if answer == nil {
			return client.Transport.RoundTrip(r)
		}
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return answer, nil
	})}
}

// reply is a response with a JSON body; "" means none.
func reply(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// unknown is a registry's response for a repository that doesn't exist.
const unknown = `{"errors": [{"code": "NAME_UNKNOWN", "message": "The repository does not exist in the registry"}]}`

// serve starts a server with https, which ends with the test.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	return server
}

// robot is the login that a fake requires.
var robot = Login{Username: "robot", Password: "p"}

// TestLogins_AreExchangedForTokens lets a registry send its clients to a token service; only that receives the
// password, and it returns a token for this repository.
func TestLogins_AreExchangedForTokens(t *testing.T) {
	t.Parallel()
	var told, scopes atomic.Value
	told.Store("")
	scopes.Store("")
	var server *httptest.Server
	server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		told.Store(told.Load().(string) + r.URL.Path + "=" + strings.Split(r.Header.Get("Authorization")+" ", " ")[0] + " ")
		switch {
		case r.URL.Path == "/token":
			if user, password, _ := r.BasicAuth(); user != "robot" || password != "p" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			scopes.Store(r.URL.Query().Get("scope"))
			_, _ = w.Write([]byte(`{"token": "t0ken"}`))
		case r.Header.Get("Authorization") != "Bearer t0ken":
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+server.URL+`/token",service="tests",scope="repository:widget:pull"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(`{"name": "widget", "tags": ["1.0.0", "latest", "v2.0.0", "1.1"]}`))
		}
	})
	must.Len(t, must.Get(sourceOf(server, robot).Versions(t.Context(), widget))(t).Versions, 1)
	must.Equal(t, scopes.Load(), "repository:widget:pull")
	must.Equal(t, told.Load(), "/v2/widget/tags/list= /token=Basic /v2/widget/tags/list=Bearer ")
}

// TestSource_ListOfTagsEnds has pages without tags among others, and an endless list of such pages.
func TestSource_ListOfTagsEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pages []string
		more  bool // after the last page, too
		want  int  // -1: it fails
	}{
		"none at all":        {pages: []string{`{"name": "widget", "tags": null}`}},
		"an empty last page": {pages: []string{`{"tags": ["1.0.0", "1.1.0"]}`, `{"tags": []}`, `{}`}, want: 2},
		"an empty one first": {pages: []string{`{"tags": []}`, `{"tags": ["1.0.0"]}`}, want: 1},
		"no end":             {pages: []string{`{"tags": []}`}, more: true, want: -1},
		"too many":           {pages: []string{`{"tags": ["x"` + strings.Repeat(`,"1"`, 100_000) + `]}`}, want: -1},
	} {
		asked := 0
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			page := min(asked, len(test.pages)-1)
			if asked++; test.more || asked < len(test.pages) {
				w.Header().Set("Link", `</v2/widget/tags/list?last=x>; rel="next"`)
			}
			_, _ = io.WriteString(w, test.pages[page])
		})
		available, err := sourceOf(server, Login{}).Versions(t.Context(), widget)
		if (err != nil) != (test.want < 0) || err == nil && len(available.Versions) != test.want || asked > 1000 {
			t.Errorf("%s: %v, %v, after %d requests", name, available.Versions, err, asked)
		}
	}
}
