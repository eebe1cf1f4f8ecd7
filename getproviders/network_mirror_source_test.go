package getproviders

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

const (
	mirrorBase   = "/mirror/"
	indexPath    = mirrorBase + "registry.example/acme/widget/index.json"
	versionPath  = mirrorBase + "registry.example/acme/widget/1.0.0.json"
	goodIndex    = `{"versions": {"1.0.0": {}}}`
	someZH       = "zh:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"
	registrySays = "provider registry"
)

// mirrorAt returns a source that uses the fake as a mirror, at the URL with this path.
func (f *fakeRegistry) mirrorAt(t *testing.T, path string) *NetworkMirrorSource {
	t.Helper()
	return must.Get(NewNetworkMirrorSource(f.URL+path, quickClient(t), nil, terraform))(t)
}

// askMirror requests the package of widget 1.0.0 from a mirror with the given responses.
func askMirror(t *testing.T, fake *fakeRegistry) (Package, error) {
	t.Helper()
	return packageOf(t, fake.mirrorAt(t, mirrorBase))
}

func TestNetworkMirrorSource_Versions(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		want []Version
	}{
		"as the protocol has it":  {`{"versions": {"1.10.0": {}, "1.9.0": {}}}`, versions("1.9.0", "1.10.0")},
		"with hints to come":      {`{"versions": {"1.0.0": {"size": 7}}, "generator": "x"}`, versions("1.0.0")},
		"hints of no kind":        {`{"versions": {"1.0.0": "x"}}`, versions("1.0.0")},
		"null hints":              {`{"versions": {"1.0.0": null}}`, versions("1.0.0")},
		"what is no version":      {`{"versions": {"1.0.0": {}, "v2.0.0": {}, "latest": {}, "": {}}}`, versions("1.0.0")},
		"in short":                {`{"versions": {"1.0": {}}}`, versions("1.0.0")},
		"the same twice":          {`{"versions": {"1.0": {}, "1.0.0": {}}}`, versions("1.0.0")},
		"prerelease and metadata": {`{"versions": {"1.0.0-rc1": {}, "1.0.0+b": {}}}`, versions("1.0.0-rc1", "1.0.0+b")},
		"empty":                   {`{"versions": {}}`, nil},
		"null":                    {`{"versions": null}`, nil},
		"left out":                {`{}`, nil},
	} {
		fake := newFakeRegistry(t, pages{indexPath: test.body})
		got := must.Get(versionsOf(t, fake.mirrorAt(t, mirrorBase)))(t, name)
		must.EqualSlices(t, got.Versions, test.want, name)
		must.Len(t, got.Warnings, 0, name)
	}
}

func TestNetworkMirrorSource_Package(t *testing.T) {
	for name, test := range map[string]struct {
		archive  string // the JSON value
		location string // %s is the server's URL
		hashes   AnyHash
	}{
		"relative, two hashes": {
			archive:  `{"url": "widget.zip", "hashes": ["h1:x", "` + someZH + `"]}`,
			location: "%s/mirror/registry.example/acme/widget/widget.zip",
			hashes:   AnyHash{"h1:x", someZH},
		},
		"absolute":             {archive: `{"url": "https://cdn.example/w.zip?signature=s", "hashes": []}`, location: "https://cdn.example/w.zip"},
		"plain http elsewhere": {archive: `{"url": "http://cdn.example/w.zip", "hashes": null}`, location: "http://cdn.example/w.zip"},
		"up and away":          {archive: `{"url": "../../../files/w.zip"}`, location: "%s/mirror/files/w.zip"},
		"unknown schemes":      {archive: `{"url": "/w.zip", "hashes": ["h9:x"]}`, location: "%s/w.zip", hashes: AnyHash{"h9:x"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake := newFakeRegistry(t, pages{versionPath: `{"archives": {"linux_amd64": ` + test.archive + `, "darwin_arm64": null}}`})
			got := must.Get(askMirror(t, fake))(t)
			must.Equal(t, got.Location.String(), strings.Replace(test.location, "%s", fake.URL, 1))
			must.Equal(t, got.ShortSource, fake.URL+mirrorBase)
			must.Equal(t, got.Source, "provider mirror at "+got.ShortSource)
			if got.Provider != widget || got.Version != v1 || got.Platform != linux {
				t.Errorf("got %+v", got)
			}
			trust, err := got.Trust.Loaded(t.Context())
			if hashes, ok := trust.Authenticator.(AnyHash); err != nil || ok != (test.hashes != nil) || !slices.Equal(hashes, test.hashes) {
				t.Errorf("authenticated by %v, %v, want %v", trust.Authenticator, err, test.hashes)
			}
		})
	}
}

func TestNetworkMirrorSource_URLsAreRelativeToTheFinalAnswer(t *testing.T) {
	fake := newFakeRegistry(t, pages{
		versionPath:        "302 /moved/here.json",
		"/moved/here.json": `{"archives": {"linux_amd64": {"url": "w.zip"}}}`,
	})
	must.Equal(t, must.Get(askMirror(t, fake))(t).Location.String(), fake.URL+"/moved/w.zip")
}

func TestNetworkMirrorSource_FollowsFiveRedirects(t *testing.T) {
	fake := newFakeRegistry(t, pages{
		indexPath: "302 /2", "/2": "302 /3", "/3": "302 /4", "/4": "302 /5", "/5": "302 /end.json", "/end.json": goodIndex,
	})
	must.Get(versionsOf(t, fake.mirrorAt(t, mirrorBase)))(t)
	fake.answers["/5"], fake.answers["/6"] = "302 /6", "302 /end.json"
	_, err := versionsOf(t, fake.mirrorAt(t, mirrorBase))
	wantQueryError(t, err, "stopped after 5 redirects")
}

// TestNetworkMirrorSource_AsksForProvidersOfAnyHost: a port isn't taken for a URL's scheme, and
// hosts are in punycode in requests.
func TestNetworkMirrorSource_AsksForProvidersOfAnyHost(t *testing.T) {
	for address, directory := range map[string]string{
		"example.com/acme/widget":      "example.com/acme/widget",
		"localhost:8443/acme/widget":   "localhost:8443/acme/widget",
		"example.com:8443/acme/widget": "example.com:8443/acme/widget",
		"испытание.com/acme/widget":    "xn--80akhbyknj4f.com/acme/widget",
		"example.com/испытание/widget": "example.com/испытание/widget",
		"hashicorp/widget":             "registry.terraform.io/hashicorp/widget",
	} {
		fake := newFakeRegistry(t, pages{
			mirrorBase + directory + "/index.json":     goodIndex,
			mirrorBase + directory + "/1.0.0+b.1.json": `{"archives": {"linux_amd64": {"url": "w.zip"}}}`,
		})
		source, p := fake.mirrorAt(t, mirrorBase), mustParse(t, address)
		must.Get(source.Versions(t.Context(), p))(t, address)
		must.Get(source.Package(t.Context(), p, version("1.0.0+b.1"), linux))(t, address)
	}
}

func TestNetworkMirrorSource_TellsItsAnswersApart(t *testing.T) {
	other := `{"archives": {"darwin_arm64": {"url": "d.zip"}, "windows_386": {"url": "w.zip"}, "plan9_arm": null, "odd": {"url": "o.zip"}}}`
	for name, test := range map[string]struct {
		answers pages
		kind    error
		text    string // %s is the URL of the mirror
		hint    string
	}{
		"no such provider": {nil, ErrProviderNotFound, "provider mirror at %s does not have a provider named registry.example/acme/widget", ""},
		"no such version": {
			pages{indexPath: `{"versions": {"1.2.0": {}, "1.1.0": {}}}`},
			ErrVersionNotFound, "provider mirror at %s does not have version 1.0.0 of provider registry.example/acme/widget",
			"the newest version there is 1.2.0",
		},
		"a version that is listed only": {
			pages{indexPath: goodIndex},
			ErrVersionNotFound, "provider mirror at %s does not have version 1.0.0 of provider registry.example/acme/widget", "",
		},
		"no such version, no index": {
			pages{indexPath: "500"},
			ErrVersionNotFound, "provider mirror at %s does not have version 1.0.0 of provider registry.example/acme/widget", "",
		},
		"no such platform": {
			pages{versionPath: other},
			ErrPlatformMissing, "provider registry.example/acme/widget v1.0.0 does not have a package available for linux_amd64 in provider mirror at %s",
			"version 1.0.0 exists for darwin_arm64, windows_386",
		},
		"a platform that is null": {
			pages{versionPath: `{"archives": {"linux_amd64": null}}`},
			ErrPlatformMissing, "provider registry.example/acme/widget v1.0.0 does not have a package available for linux_amd64 in provider mirror at %s", "",
		},
	} {
		fake := newFakeRegistry(t, test.answers)
		_, err := askMirror(t, fake)
		wantKind(t, err, test.kind, name)
		must.Equal(t, err.Error(), strings.Replace(test.text, "%s", fake.URL+mirrorBase, 1), name)
		must.Equal(t, hint(err), test.hint, name)
	}
}

func TestNewNetworkMirrorSource(t *testing.T) {
	for base, want := range map[string]string{
		"https://mirror.example/providers/":         "provider mirror at https://mirror.example/providers/",
		"https://mirror.example":                    "provider mirror at https://mirror.example",
		"HTTPS://Mirror.Example:443/p":              "provider mirror at https://Mirror.Example:443/p",
		"https://xn--e1afmkfd.xn--p1ai/":            "provider mirror at https://xn--e1afmkfd.xn--p1ai/",
		"https://me:hunter2@mirror.example/p/?k=v#": "provider mirror at https://mirror.example/p/",
		"http://localhost/p/":                       "provider mirror at http://localhost/p/",
		"http://127.8.9.10:8080/p/":                 "provider mirror at http://127.8.9.10:8080/p/",
	} {
		must.Equal(t, must.Get(NewNetworkMirrorSource(base, nil, nil, Product{}))(t).Describe(widget).Name, want, base)
	}
	for base, want := range map[string]string{
		"":                                     "has to be absolute",
		"mirror.example/p/":                    "has to be absolute",
		"/p/":                                  "has to be absolute",
		"https:///p/":                          "has to be absolute",
		"https:p":                              "has to be absolute",
		"https://me:hunter2@mirror.example:x/": "has to be absolute",
		"http://mirror.example/p/":             `scheme https, not "http"`,
		"http://localhost.example/p/":          `scheme https, not "http"`,
		"http://127.0.0.1.example/p/":          `scheme https, not "http"`,
		"ftp://localhost/p/":                   `scheme https, not "ftp"`,
		"https://me:hunter2@mirror..example/":  "empty label",
	} {
		_, err := NewNetworkMirrorSource(base, nil, nil, Product{})
		must.Contain(t, err, want, base)
		must.NotContain(t, err.Error(), "hunter2", base)
	}
}

// TestNetworkMirrorSource_TakesUserAndPasswordFromItsURL: they are sent to the mirror, as by
// Terraform and OpenTofu, and to no other host.
func TestNetworkMirrorSource_TakesUserAndPasswordFromItsURL(t *testing.T) {
	fake := newFakeRegistry(t, pages{
		indexPath:   goodIndex,
		versionPath: `{"archives": {"linux_amd64": {"url": "w.zip"}, "darwin_arm64": {"url": "https://cdn.example/w.zip"}}}`,
	})
	base := strings.Replace(fake.URL, "http://", "http://me:hunter2@", 1) + mirrorBase
	source := must.Get(NewNetworkMirrorSource(base, quickClient(t), nil, terraform))(t)
	must.Get(versionsOf(t, source))(t)
	must.Equal(t, fake.seen[0].Header.Get("Authorization"), "Basic bWU6aHVudGVyMg==") // me:hunter2
	must.Equal(t, fake.seen[0].Header.Get("X-Terraform-Version"), "1.15.9")
	for platform, want := range map[Platform]bool{linux: true, {OS: "darwin", Arch: "arm64"}: false} {
		got := must.Get(source.Package(t.Context(), widget, v1, platform))(t)
		must.Equal(t, got.Location.(HTTPArchive).URL.User != nil, want, platform)
		must.NotContain(t, got.Location.String()+got.Source, "hunter2", platform)
	}
	fake.answers[versionPath] = "401"
	_, err := packageOf(t, source)
	must.Contain(t, err, "rejected the given authentication credentials")
	must.NotContain(t, err.Error()+hint(err), "hunter2")
}

// quickClient doesn't wait between attempts.
func quickClient(t *testing.T) *http.Client {
	t.Helper()
	client := must.Get(hosts.NewClient(hosts.ClientOptions{Retries: 1, RetryWaitMin: 1}))(t)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestNetworkMirrorSource_TrustsAllHashesIfTold(t *testing.T) {
	const other = "zh:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"
	fake := newFakeRegistry(t, pages{versionPath: `{"archives": {
		"linux_amd64": {"url": "l.zip", "hashes": ["` + someZH + `", "h1:x", "h9:x"]},
		"darwin_arm64": {"url": "d.zip", "hashes": ["` + other + `"]},
		"broken": {"url": ":", "hashes": ["` + other + `"]}, "plan9_386": null}}`})
	digests := Digests{H1: "h1:x"}
	for _, trusted := range []bool{false, true} {
		source := fake.mirrorAt(t, mirrorBase)
		source.TrustAllHashes = trusted
		found := must.Get(packageOf(t, source))(t)
		trust := must.Get(found.Trust.Loaded(t.Context()))(t)
		want := []Hash(nil)
		if trusted {
			want = []Hash{other, someZH, "h1:x"}
		}
		for _, by := range []Authenticator{found.Trust.Authenticator, trust.Authenticator} {
			must.EqualSlices(t, must.Get(by.Authenticate(digests))(t).Signed, want, trusted)
			must.Refuse(by.Authenticate(Digests{H1: "h1:wrong"}))(t, "another package is accepted")
		}
	}
}

// OpenTofu believes a mirror's list about the providers of its own registry only, which needs no signatures.
func TestNetworkMirrorSource_TrustsAllHashesOfItsOwnRegistryInOpenTofu(t *testing.T) {
	own, others := "zh:"+strings.Repeat("0a", 32), "zh:"+strings.Repeat("0b", 32)
	document := `{"archives": {"linux_amd64": {"url": "l.zip", "hashes": ["` + own + `"]}, "darwin_arm64": {"url": "d.zip", "hashes": ["` + others + `"]}}}`
	strict := OpenTofu("1.12.6")
	strict.NeedsKeys = true

	for name, test := range map[string]struct {
		host    string
		product Product
		trusts  bool
	}{
		"its own registry":                      {"registry.opentofu.org", OpenTofu("1.12.6"), true},
		"Terraform's registry":                  {"registry.terraform.io", OpenTofu("1.12.6"), false},
		"any other registry":                    {"tf.example.com", OpenTofu("1.12.6"), false},
		"its own, with OPENTOFU_ENFORCE_GPG...": {"registry.opentofu.org", strict, false},
	} {
		p := Provider{Hostname: hosts.Hostname(test.host), Namespace: "acme", Type: "widget"}
		fake := newFakeRegistry(t, pages{
			mirrorBase + p.String() + "/1.0.0.json": document,
			mirrorBase + p.String() + "/index.json": `{"versions": {"1.0.0": {}}}`,
		})
		var urls []string
		for _, all := range []bool{false, true} {
			source := fake.mirrorAt(t, mirrorBase)
			source.product, source.TrustAllHashes = test.product, all
			found := must.Get(source.Package(t.Context(), p, version("1.0.0"), linux))(t)
			sum, _ := Hash(own).SHA256()
			result := must.Get(found.Trust.Authenticator.Authenticate(Digests{SHA256: sum}))(t)
			must.Equal(t, slices.Contains(result.Signed, Hash(others)), all && test.trusts, name, all)

			// What was fetched with the other setting isn't what would be fetched now.
			must.Equal(t, must.Get(source.Describe(p).SourceURL(t.Context(), p, version("1.0.0"), linux))(t), found.SourceURL)
			must.Equal(t, source.Describe(p).Owns(t.Context(), p, found.SourceURL), true)
			urls = append(urls, found.SourceURL)
		}
		must.Equal(t, urls[0] != urls[1], test.trusts, name)
	}
}
