package getproviders

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// packageBody returns a good description of a package, with some properties changed; a nil value
// removes one.
func packageBody(t *testing.T, changes map[string]any) string {
	t.Helper()
	properties := map[string]any{
		"protocols":             []string{"5.0"},
		"os":                    "linux",
		"arch":                  "amd64",
		"filename":              "terraform-provider-widget_1.0.0_linux_amd64.zip",
		"download_url":          "https://cdn.example/widget.zip?token=secret",
		"shasum":                strings.Repeat("0F", 32),
		"shasums_url":           "https://cdn.example/SHA256SUMS",
		"shasums_signature_url": "https://cdn.example/SHA256SUMS.sig",
		"signing_keys":          map[string]any{"gpg_public_keys": []any{map[string]any{"ascii_armor": "key"}}},
	}
	maps.Copy(properties, changes)
	maps.DeleteFunc(properties, func(_ string, value any) bool { return value == nil })
	body := must.Get(json.Marshal(properties))(t)
	return string(body)
}

func askForPackage(t *testing.T, fake *fakeRegistry) (Package, error) {
	t.Helper()
	return packageOf(t, fake.source(t))
}

func TestRegistrySource_Package(t *testing.T) {
	fake := newFakeRegistry(t, pages{packagePath: packageBody(t, nil)})
	got := must.Get(askForPackage(t, fake))(t)
	if got.Provider != widget || got.Version.String() != "1.0.0" || got.Platform != linux || got.Trust.Load == nil {
		t.Errorf("got %+v", got)
	}
	archive, ok := got.Location.(HTTPArchive)
	if !ok || archive.URL.String() != "https://cdn.example/widget.zip?token=secret" {
		t.Errorf("location %#v", got.Location)
	}
	must.Len(t, fake.seen, 1)
}

func TestRegistrySource_PackageProtocols(t *testing.T) {
	for name, protocols := range map[string]any{
		"5":              []string{"5.0"},
		"6":              []string{"6.3"},
		"short":          []string{"5"},
		"one of several": []string{"4.0", "5.1"},
		"future besides": []string{"7.0", "6.0"},
		"empty":          []string{},
		"none":           nil,
	} {
		fake := newFakeRegistry(t, pages{packagePath: packageBody(t, map[string]any{"protocols": protocols})})
		must.Get(askForPackage(t, fake))(t, name)
	}
}

func TestRegistrySource_RefusesMalformedPackages(t *testing.T) {
	for _, test := range []struct {
		property string
		value    any
		problem  string
	}{
		{"os", "darwin", `it is about the package for "darwin_amd64", not for linux_amd64`},
		{"arch", "arm64", `it is about the package for "linux_arm64", not for linux_amd64`},
		{"os", nil, `it is about the package for "_amd64", not for linux_amd64`},
		{"protocols", []string{"5.0", "five"}, "protocols[1] is not a version"},
		{"protocols", []any{nil}, "protocols[0] is not a version"},
		{"filename", nil, "filename is missing"},
		{"filename", "terraform-provider-widget_2.0.0_linux_amd64.zip", `"terraform-provider-widget_2.0.0_linux_amd64.zip" is that of version 2.0.0, not of 1.0.0`},
		{"filename", "Terraform-Provider-Widget_2.0.0_Linux_AMD64_SIGNED.zip", "is that of version 2.0.0, not of 1.0.0"},
		{"filename", "terraform-provider-gadget_1.0.0_linux_amd64.zip", "is that of another provider"},
		{"filename", "terraform-provider-widget_1.0.0_linux_arm.zip", "is that of the package for linux_arm, not for linux_amd64"},
		{"shasum", strings.Repeat("0", 62), "shasum is not 64 hexadecimal digits"},
		{"shasum", strings.Repeat("0", 66), "shasum is not 64 hexadecimal digits"},
		{"shasum", strings.Repeat("z", 64), "shasum is not 64 hexadecimal digits"},
		{"shasum", nil, "shasum is not 64 hexadecimal digits"},
		{"download_url", nil, "download_url is missing"},
		{"download_url", "file:///etc/passwd", `download_url has the scheme "file", which is neither http nor https`},
		{"download_url", "https:///x", "download_url names no host"},
		{"download_url", "http://[::1", "download_url is not a URL"},
		{"download_url", "https:x", "download_url names no host"},
		{"shasums_url", "", "shasums_url is missing"},
		{"shasums_url", "ftp://x/y", `shasums_url has the scheme "ftp", which is neither http nor https`},
		{"shasums_signature_url", nil, "shasums_signature_url is missing"},
		{"signing_keys", map[string]any{"gpg_public_keys": []any{nil}}, "signing_keys.gpg_public_keys[0] is null"},
		{"signing_keys", []any{}, "signing_keys can't be a JSON array"},
		{"signing_keys", map[string]any{"gpg_public_keys": "x"}, "signing_keys.gpg_public_keys can't be a JSON string"},
		{"protocols", "5.0", "protocols can't be a JSON string"},
	} {
		t.Run(fmt.Sprint(test.property, "=", test.value), func(t *testing.T) {
			fake := newFakeRegistry(t, pages{packagePath: packageBody(t, map[string]any{test.property: test.value})})
			_, err := askForPackage(t, fake)
			wantQueryError(t, err, "malformed answer", fake.URL+packagePath, test.problem)
		})
	}
}

// Registries may give archives any names; only a name in the publishers' form contains the
// provider.
func TestRegistrySource_AcceptsOtherNamesOfArchives(t *testing.T) {
	for _, name := range []string{"widget.zip", "terraform-provider-widget_v2.0.0_linux_amd64.zip", "terraform-provider-gadget.zip",
		"TERRAFORM-provider-widget_1.0.0_linux_amd64_signed.zip", "terraform-provider-gadget_2.0.0_linux_amd64.tar"} {
		fake := newFakeRegistry(t, pages{packagePath: packageBody(t, map[string]any{"filename": name})})
		must.Get(askForPackage(t, fake))(t, name)
	}
}

func TestRegistrySource_NeverTellsSecretsInURLs(t *testing.T) {
	fake := newFakeRegistry(t, pages{
		packagePath:  "302 /elsewhere?token=hush",
		"/elsewhere": packageBody(t, map[string]any{"download_url": "https://user:hush@[::1?hush"}),
	})
	_, err := askForPackage(t, fake)
	wantQueryError(t, err, "/elsewhere?token=REDACTED")
	must.NotContain(t, err.Error(), "hush")
}

func TestRegistrySource_URLsAreRelativeToTheFinalAnswer(t *testing.T) {
	fake := newFakeRegistry(t, pages{
		packagePath: "302 /moved/here/package.json",
		"/moved/here/package.json": packageBody(t, map[string]any{
			"download_url":          "../widget.zip",
			"shasums_url":           "SHA256SUMS",
			"shasums_signature_url": "/SHA256SUMS.sig",
		}),
		"/moved/here/SHA256SUMS": "sums",
		"/SHA256SUMS.sig":        "signature",
	})
	got := must.Get(askForPackage(t, fake))(t)
	must.Equal(t, got.Location.String(), fake.URL+"/moved/widget.zip")
	trust := must.Get(got.Trust.Loaded(t.Context()))(t)
	checksums, ok := trust.Authenticator.(SignedChecksums)
	if !ok || string(checksums.Sums) != "sums" || string(checksums.Signature) != "signature" {
		t.Errorf("got %#v", trust.Authenticator)
	}
}

func TestRegistrySource_OnlyTheRegistryGetsTheProductsVersion(t *testing.T) {
	fake := newFakeRegistry(t, pages{
		versionsPath: `{"versions": [{"version": "1.0.0"}]}`,
		packagePath: packageBody(t, map[string]any{
			"shasums_url":           "/SHA256SUMS",
			"shasums_signature_url": "/SHA256SUMS.sig",
		}),
		"/SHA256SUMS":     "",
		"/SHA256SUMS.sig": "",
	})
	source := fake.source(t)
	available := must.Get(versionsOf(t, source))(t)
	found := must.Get(source.Package(t.Context(), widget, available.Versions[0], linux))(t)
	must.Get(found.Trust.Loaded(t.Context()))(t)
	must.Len(t, fake.seen, 4)
	for _, req := range fake.seen {
		want := ""
		if strings.HasPrefix(req.URL.Path, "/v1/") {
			want = "1.15.9"
		}
		must.Equal(t, req.Header.Get("X-Terraform-Version"), want, req.URL.Path)
	}
}

func TestRegistrySource_TrustFailures(t *testing.T) {
	for name, test := range map[string]struct {
		answers pages
		kind    error
		text    string
	}{
		"no list":          {pages{"/sig": ""}, ErrUnreachable, "/sums\": 404 Not Found"},
		"no signature":     {pages{"/sums": ""}, ErrUnreachable, "/sig\": 404 Not Found"},
		"private":          {pages{"/sums": "", "/sig": "401"}, ErrUnauthorized, "host 127.0.0.1:"},
		"broken":           {pages{"/sums": "502", "/sig": ""}, ErrUnreachable, "after 2 attempts"},
		"huge list":        {pages{"/sums": strings.Repeat(" ", 1<<20+1), "/sig": ""}, ErrUnreachable, "larger than 1048576 bytes"},
		"huge signature":   {pages{"/sums": "", "/sig": strings.Repeat(" ", 64<<10+1)}, ErrUnreachable, "larger than 65536 bytes"},
		"endless redirect": {pages{"/sums": "302 /sums", "/sig": ""}, ErrUnreachable, "redirect"},
	} {
		test.answers[packagePath] = packageBody(t, map[string]any{"shasums_url": "/sums", "shasums_signature_url": "/sig"})
		_, err := must.Get(askForPackage(t, newFakeRegistry(t, test.answers)))(t, name).Trust.Loaded(t.Context())
		wantKind(t, err, test.kind, name)
		must.Contain(t, err, test.text, name)
	}
}
