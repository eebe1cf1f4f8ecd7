package providertest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func newMirror(t *testing.T, opts providertest.MirrorOptions) *providertest.Mirror {
	t.Helper()
	m := must.Get(providertest.NewMirror(opts))(t)
	t.Cleanup(m.Close)
	return m
}

// getFrom asks for a path below a mirror's URL.
func getFrom(t *testing.T, m *providertest.Mirror, path string) (*http.Response, string) {
	t.Helper()
	return getURL(t, m.Client(), m.URL()+path, "")
}

const mirroredWidget = "example.com/acme/widget/"

func TestMirror_ServesEveryDocumentOfTheProtocol(t *testing.T) {
	t.Parallel()
	m := newMirror(t, providertest.MirrorOptions{})
	for _, platform := range []getproviders.Platform{linux, {OS: "darwin", Arch: "arm64"}} {
		m.Add("example.com", providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: platform})
	}
	m.Add("example.com", providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.1.0", Platform: linux, Archive: []byte("no zip")})
	m.Add("localhost:8443", providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "3.0.0", Platform: linux, Hashes: []string{}})
	for path, wants := range map[string][]string{
		mirroredWidget + "index.json":                                      {`"1.0.0": {}`, `"1.1.0": {}`},
		mirroredWidget + "1.0.0.json":                                      {`"linux_amd64"`, `"darwin_arm64"`, `"url": "terraform-provider-widget_1.0.0_linux_amd64.zip"`, `"h1:`, `"zh:`},
		mirroredWidget + "1.1.0.json":                                      {`"zh:`},
		mirroredWidget + "terraform-provider-widget_1.1.0_linux_amd64.zip": {"no zip"},
		"localhost:8443/acme/widget/index.json":                            {`"3.0.0": {}`},
		"localhost:8443/acme/widget/3.0.0.json":                            {`.zip"`},
	} {
		resp, body := getFrom(t, m, path)
		must.Equal(t, resp.StatusCode, http.StatusOK, path)
		must.Equal(t, resp.ProtoMajor, 2, path)
		for _, want := range wants {
			must.Contain(t, body, want, path)
		}
		if strings.HasSuffix(path, ".json") && (resp.Header.Get("Content-Type") != "application/json" || !json.Valid([]byte(body))) {
			t.Errorf("GET %s: %s\n%s", path, resp.Header.Get("Content-Type"), body)
		}
		if strings.Contains(path, "localhost") && strings.Contains(body, "hashes") {
			t.Errorf("GET %s: hashes in\n%s", path, body)
		}
	}
	for _, path := range []string{"", "index.json", "example.com/acme/gadget/index.json", "other.example/acme/widget/index.json", mirroredWidget + "2.0.0.json", mirroredWidget + "x.zip"} {
		if resp, _ := getFrom(t, m, path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: %s", path, resp.Status)
		}
	}
	for kind, want := range map[string]int{"index": 4, "version": 4, "archive": 2, "other": 2} {
		must.Equal(t, m.Requests(kind), want, kind)
	}
}

func TestMirror_WithoutHashesAndWithArchivesElsewhere(t *testing.T) {
	t.Parallel()
	ca := must.Get(providertest.NewCA())(t)
	plain := newMirror(t, providertest.MirrorOptions{CA: ca, Plain: true})
	m := newMirror(t, providertest.MirrorOptions{CA: ca, NoHashes: true, ArchiveURL: plain.URL()})
	spec := providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Archive: []byte("bytes")}
	m.Add("example.com", spec)
	plain.Add("example.com", spec)
	_, body := getFrom(t, m, mirroredWidget+"1.0.0.json")
	at := plain.URL() + mirroredWidget + "terraform-provider-widget_1.0.0_linux_amd64.zip"
	if !strings.HasPrefix(at, "http://") || !strings.Contains(body, `"`+at+`"`) || strings.Contains(body, "hashes") {
		t.Errorf("no hashes, and %s, wanted in\n%s", at, body)
	}
	if _, archive := getURL(t, m.Client(), at, ""); archive != "bytes" {
		t.Errorf("the archive is %q", archive)
	}
}

func TestTokens_AreRequiredForTheirKinds(t *testing.T) {
	t.Parallel()
	m := newMirror(t, providertest.MirrorOptions{})
	m.Add("example.com", providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux})
	m.RequireToken("hunter2", "index", "version")
	for _, test := range []struct {
		path, header string
		status       int
	}{
		{"index.json", "", 401},
		{"index.json", "Bearer hunter3", 401},
		{"index.json", "Bearer hunter2", 200},
		{"1.0.0.json", "Basic hunter2", 401},
		{"1.0.0.json", "Bearer hunter2", 200},
		{"terraform-provider-widget_1.0.0_linux_amd64.zip", "", 200},
	} {
		if resp, _ := getURL(t, m.Client(), m.URL()+mirroredWidget+test.path, test.header); resp.StatusCode != test.status {
			t.Errorf("%s with %q: %s, want %d", test.path, test.header, resp.Status, test.status)
		}
	}
	must.Equal(t, m.Log()[1].Header.Get("Authorization"), "Bearer hunter3")
}

func TestServer_ServesAnything(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		s := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: plain, Handler: http.RedirectHandler("/x", http.StatusFound)}))(t)
		t.Cleanup(s.Close)
		s.Break("other", providertest.Fault{Path: "/y", Status: http.StatusTeapot})
		for path, want := range map[string]int{"/": http.StatusFound, "/y": http.StatusTeapot} {
			resp := must.Get(s.Client().Transport.RoundTrip(request(t, s.BaseURL()+path)))(t)
			resp.Body.Close()
			must.Equal(t, resp.StatusCode, want, path)
			must.Equal(t, resp.TLS == nil, plain, path)
		}
		must.Equal(t, s.Requests("other"), 2)
	}
	s := must.Get(providertest.NewServer(providertest.ServerOptions{}))(t)
	t.Cleanup(s.Close)
	if resp, _ := getURL(t, s.Client(), s.BaseURL(), ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a handler: %s", resp.Status)
	}
}

// TestMirror_TerraformInstallsFromIt also checks the hashes that the mirror computes: each of the
// two has to be enough.
func TestMirror_TerraformInstallsFromIt(t *testing.T) {
	t.Parallel()
	m := newMirror(t, providertest.MirrorOptions{})
	outcomes := map[string]string{
		"both": "(verified checksum)", "h1": "(verified checksum)", "zh": "(verified checksum)",
		"none": "(unauthenticated)", "wrong": "doesn't match the expected checksum",
	}
	files := map[string]string{"docs/": "", "docs/a": "a", "docs-b": "b"}
	for name := range outcomes {
		files["terraform-provider-"+name] = "x"
	}
	add := func(name string, hashes []string) {
		m.Add("example.com", providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: providertest.Zip(files), Hashes: hashes})
	}
	add("both", nil)
	add("none", []string{})
	add("wrong", []string{"h1:x"})
	_, body := getFrom(t, m, "example.com/acme/both/1.0.0.json")
	for _, hash := range regexp.MustCompile(`(h1|zh):[^"]+`).FindAllString(body, -1) {
		add(hash[:2], []string{hash})
	}
	for name, want := range outcomes {
		env, err := m.Env(t.TempDir())
		must.Succeed(t, err)
		out, err := terraformInit(t, env, "example.com/acme/"+name)
		must.Equal(t, err == nil, name != "wrong")
		must.Contain(t, strings.Join(strings.Fields(out), " "), want)
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	return must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
}

// getURL asks for a URL, with an Authorization header unless it is "".
func getURL(t *testing.T, client *http.Client, url, authorization string) (*http.Response, string) {
	t.Helper()
	req := request(t, url)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp := must.Get(client.Do(req))(t)
	defer resp.Body.Close()
	body := must.Get(io.ReadAll(resp.Body))(t)
	return resp, string(body)
}
