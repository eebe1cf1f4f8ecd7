package providertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestRegistrySource_ServesModules(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	archive := providertest.TarGz(map[string]string{"main.tf": ""})
	for _, version := range []string{"1.0.0", "nonsense"} {
		r.AddModule(providertest.ModuleSpec{
			Namespace: "acme", Name: "net", System: "cloud", Version: version,
			Location: r.AddArchive("net.tar.gz", archive),
		})
	}
	const module = "/v1/modules/acme/net/cloud/"
	if _, body := mustGet(t, r, "/.well-known/terraform.json"); !strings.Contains(body, `"modules.v1": "/v1/modules/"`) {
		t.Errorf("discovery: %s", body)
	}
	if _, body := mustGet(t, r, module+"versions"); !strings.Contains(body, `"1.0.0"`) || !strings.Contains(body, `"nonsense"`) {
		t.Errorf("versions: %s", body)
	}
	resp, body := mustGet(t, r, module+"1.0.0/download")
	location := resp.Header.Get("X-Terraform-Get")
	if resp.StatusCode != http.StatusNoContent || location != "/archives/net.tar.gz" || body != "" {
		t.Errorf("download: %s, location %q, body %q", resp.Status, location, body)
	}
	if _, body := mustGet(t, r, location); body != string(archive) {
		t.Errorf("the archive has %d bytes, want %d", len(body), len(archive))
	}
	for _, missing := range []string{module + "2.0.0/download", "/v1/modules/acme/net/other/versions", "/archives/other.tar.gz"} {
		if resp, _ := mustGet(t, r, missing); resp.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: %s", missing, resp.Status)
		}
	}
	for _, kind := range []string{"module/versions", "module/download", "module/archive"} {
		must.Equal(t, r.Requests(kind), 2, kind)
	}
}

func TestModuleRegistry_ModulesBreakOnCommand(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	r.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "cloud", Version: "1.0.0", Location: "/x"})
	const versions, download = "/v1/modules/acme/net/cloud/versions", "/v1/modules/acme/net/cloud/1.0.0/download"

	r.Break("module/versions", providertest.Fault{Body: func([]byte) []byte { return []byte("{") }})
	if _, body := mustGet(t, r, versions); body != "{" {
		t.Errorf("broken versions: %q", body)
	}
	r.Break("module/download", providertest.Fault{Header: http.Header{"X-Terraform-Get": {"elsewhere"}}})
	if resp, _ := mustGet(t, r, download); resp.Header.Get("X-Terraform-Get") != "elsewhere" {
		t.Errorf("broken download: %v", resp.Header)
	}
	r.RequireToken("s3cret", "module/download")
	if resp, _ := mustGet(t, r, download); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", resp.Status)
	}
}
