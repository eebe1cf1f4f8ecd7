package providertest_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRegistry_ServesWhatWasAddedAndBreaks(t *testing.T) {
	t.Parallel()
	registry := providertest.New(t)
	linux := getproviders.Platform{OS: "linux", Arch: "arm"}
	registry.Add(providertest.PackageSpec{
		Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Protocols: []string{"6.0"}, Archive: providertest.Zip(map[string]string{"a": "b"}),
	})
	p, v := registry.Provider("acme", "widget"), getproviders.MustParseVersion("1.0.0")
	found, err := registry.Source().Package(t.Context(), p, v, linux)
	if err != nil || p.Hostname != providertest.Host || !slices.Equal(found.Protocols, []string{"6.0"}) {
		t.Errorf("%+v, %v", found, err)
	}
	if trust, err := found.Trust.Loaded(t.Context()); err != nil || !strings.Contains(registry.SigningKey(), "PUBLIC KEY") || trust.Documents == nil {
		t.Errorf("%+v, %v", trust, err)
	}
	must.Equal(t, registry.Requests("package"), 1)
	registry.Break("versions", providertest.Failure{Status: http.StatusTeapot})
	if _, err := registry.Source().Versions(t.Context(), p); err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("%v", err)
	}
	registry.RequireToken("secret", "package")
	must.Equal(t, getproviders.CodeOf(must.ErrorOf(registry.Source().Package(t.Context(), p, v, linux))), "unauthorized")
}

func TestRegistry_HasModulesAndIsFoundByPrograms(t *testing.T) {
	t.Parallel()
	registry := providertest.New(t)
	registry.AddModule("acme", "net", "aws", "1.0.0", registry.AddArchive("net.zip", []byte("zip")))
	resp := must.Get(registry.Client().Get("https://" + registry.Addr() + "/.well-known/terraform.json"))(t)
	defer resp.Body.Close()
	must.Contain(t, string(must.Get(io.ReadAll(resp.Body))(t)), "modules.v1")
	if env, err := registry.Env(t.TempDir(), "example.com"); err != nil || !strings.HasPrefix(strings.Join(env, " "), "SSL_CERT_FILE=") {
		t.Errorf("%q, %v", env, err)
	}
}
