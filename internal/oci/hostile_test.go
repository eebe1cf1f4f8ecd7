package oci_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci"
)

// object is a JSON object.
type object = map[string]any

// fake is a registry of one version, with what a test makes of it.
type fake struct {
	index, manifest object
	layer           string
	change          func(path string, body []byte) []byte // on its way
	elsewhere       string                                // where blobs are; "": here
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

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if user, _, _ := r.BasicAuth(); user != "robot" {
		w.Header().Set("WWW-Authenticate", `Basic realm="tests"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	manifest, _ := json.Marshal(f.manifest)
	if f.index["manifests"] == nil {
		f.index["manifests"] = []object{target1(manifest, "linux", "")}
	}
	body := manifest
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/manifests/1.0.0"):
		body, _ = json.Marshal(f.index)
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
	if f.change != nil {
		body = f.change(r.URL.Path, body)
	}
	_, _ = w.Write(body)
}

func target1(manifest []byte, os, osVersion string) object {
	return object{"mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": "application/vnd.opentofu.provider-target",
		"digest": digest.FromBytes(manifest), "size": len(manifest), "platform": object{"os": os, "architecture": "amd64", "os.version": osVersion}}
}

// sourceOf is the repository "widget" of a fake registry, with its login, if it wants one.
func sourceOf(server *httptest.Server, login oci.Login) *oci.Source {
	host := strings.TrimPrefix(server.URL, "https://")
	logins := &oci.Logins{Blocks: []oci.LoginBlock{{Prefix: host, Login: login}}}
	return &oci.Source{Client: &oci.Client{HTTP: server.Client(), Logins: logins.Find}, Repository: func(getproviders.Provider) (oci.Repository, error) {
		return oci.ParseRepository(host + "/widget")
	}}
}

// ask asks the fake for the package.
func (f *fake) ask(t *testing.T) (getproviders.Package, error) {
	t.Helper()
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	source := sourceOf(server, oci.Login{Username: "robot", Password: "p"})
	return source.Package(t.Context(), widget, v1, linux)
}

// What decoding takes is counted by the meter of who asks, such as a server with a limit of memory, before it is there.
func TestSource_CountsWhatItReads(t *testing.T) {
	t.Parallel()
	full := errors.New("the memory is taken")
	for room, want := range map[int64]error{0: full, 1000: full, 5000: full, 1 << 20: nil} {
		f, left := newFake(), room
		f.index["annotations"] = object{"long": strings.Repeat(",", 60)}
		server := httptest.NewTLSServer(f)
		t.Cleanup(server.Close)
		must.Fail(t, must.ErrorOf(sourceOf(server, oci.Login{Username: "robot", Password: "p"}).Package(hosts.WithMeter(t.Context(), func(_ context.Context, bytes int64) error {
			if left -= bytes; left < 0 {
				return full
			}
			return nil
		}), widget, v1, linux)), want, room)
	}
}

func TestSource_RefusesWhatIsNoProvider(t *testing.T) {
	t.Parallel()
	manifest := []byte("{}")
	for want, spoil := range map[string]func(f *fake){
		"media type":     func(f *fake) { f.manifestType = "application/vnd.oci.image.manifest.v1+json" },
		"artifact type":  func(f *fake) { f.index["artifactType"] = "application/vnd.opentofu.modulepkg" },
		"has the media ": func(f *fake) { f.manifest["artifactType"] = "other" },
		"0 layers":       func(f *fake) { f.manifest["layers"] = nil },
		"2 layers": func(f *fake) {
			layer := object{"mediaType": "archive/zip", "digest": digest.FromString("x"), "size": 1}
			f.manifest["layers"] = []object{layer, layer}
		},
		"no SHA-256": func(f *fake) {
			f.manifest["layers"] = []object{{"mediaType": "archive/zip", "digest": digest.SHA512.FromString("x"), "size": 1}}
		},
		"several targets": func(f *fake) {
			f.index["manifests"] = []object{target1(manifest, "linux", ""), target1(manifest, "linux", "")}
		},
		"available for linux_amd64": func(f *fake) {
			f.index["manifests"] = []object{target1(manifest, "linux", "10"), target1(manifest, "plan9", "")}
		},
		"mismatch": func(f *fake) {
			f.change = func(path string, body []byte) []byte {
				if strings.HasSuffix(path, "/1.0.0") {
					return body
				}
				body[0] = '['
				return body
			}
		},
	} {
		f := newFake()
		spoil(f)
		must.Contain(t, must.ErrorOf(f.ask(t)), want)
	}
}

// TestArchive_TakesNoLoginElsewhere has the registry send its clients to another host, which asks for a login, too.
func TestArchive_TakesNoLoginElsewhere(t *testing.T) {
	t.Parallel()
	var told atomic.Value
	told.Store("")
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told.Store(told.Load().(string) + r.Header.Get("Authorization"))
		w.Header().Set("WWW-Authenticate", `Basic realm="tests"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
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
	f.change = func(path string, body []byte) []byte {
		if strings.Contains(path, "/blobs/") {
			return append(body, 'x')
		}
		return body
	}
	pkg := must.Get(f.ask(t))(t)
	must.Fail(t, must.ErrorOf(pkg.Trust.Authenticator.Authenticate(getproviders.Digests{SHA256: [32]byte{1}})), getproviders.ErrAuthentication)
	opened := must.Get(pkg.Location.(getproviders.Archive).Open(t.Context(), 0))(t)
	defer opened.Body.Close()
	if n, err := opened.Body.Read(make([]byte, 100)); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestPush_NamesTheRepositoryToBeCreated has a registry answer as ECR does.
func TestPush_NamesTheRepositoryToBeCreated(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(`{"errors": [{"code": "NAME_UNKNOWN", "message": "The repository with name 'widget' does not exist"}]}`))
		}
	}))
	t.Cleanup(server.Close)
	at := oci.Repository{Registry: strings.TrimPrefix(server.URL, "https://"), Name: "team/widget"}
	err := (&oci.Client{HTTP: server.Client()}).Push(t.Context(), at, release("1.0.0", target(linux, "archive one")))
	must.Equal(t, must.As[*oci.RepositoryMissingError](t, err).Repository, at)
	must.Contain(t, err, "create team/widget there first")
}

// tagged reads the index of version 1.0.0, or sets the tag to another one.
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

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLogins_AreExchangedForTokens has a registry send its clients to a service for tokens, which alone gets the
// password, and a token for this repository.
func TestLogins_AreExchangedForTokens(t *testing.T) {
	t.Parallel()
	var told, scopes atomic.Value
	told.Store("")
	scopes.Store("")
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	t.Cleanup(server.Close)
	source := sourceOf(server, oci.Login{Username: "robot", Password: "p"})
	must.Len(t, must.Get(source.Versions(t.Context(), widget))(t).Versions, 1)
	must.Equal(t, scopes.Load(), "repository:widget:pull")
	must.Equal(t, told.Load(), "/v2/widget/tags/list= /token=Basic /v2/widget/tags/list=Bearer ")
}

// TestSource_ListOfTagsEnds has pages without tags among others, and a list of such pages that doesn't end.
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
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := min(asked, len(test.pages)-1)
			if asked++; test.more || asked < len(test.pages) {
				w.Header().Set("Link", `</v2/widget/tags/list?last=x>; rel="next"`)
			}
			_, _ = io.WriteString(w, test.pages[page])
		}))
		t.Cleanup(server.Close)
		source := sourceOf(server, oci.Login{})
		available, err := source.Versions(t.Context(), widget)
		if (err != nil) != (test.want < 0) || err == nil && len(available.Versions) != test.want || asked > 1000 {
			t.Errorf("%s: %v, %v, after %d requests", name, available.Versions, err, asked)
		}
	}
}
