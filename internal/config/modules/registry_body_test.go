package modules

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// bodyCases are answers of a module registry to OpenTofu, header and body, and what is fetched: "" if the answer is refused; "with" or
// "without" a token behind what the registry has itself. BASE is the registry's URL.
var bodyCases = map[string]string{
	` {"location": "BASE/body.tgz"}`:              "/body.tgz",
	` {"location": "/body.tgz"}`:                  "/body.tgz",
	` {"location": "../../../../../../body.tgz"}`: "/body.tgz",
	`BASE/header.tgz {"location": "/body.tgz"}`:   "/body.tgz",
	`/header.tgz {}`:                              "/header.tgz",
	`/header.tgz {"location": ""}`:                "/header.tgz",
	`/header.tgz null`:                            "/header.tgz",
	`/header.tgz {"location": "/body.tgz", "use_registry_credentials": null}`: "/body.tgz",
	`/header.tgz <html>`:              "",
	`/header.tgz `:                    "",
	`/header.tgz {"location": 1}`:     "",
	` {}`:                             "",
	` {"location": "body.tgz"}`:       "",
	` {"location": "acme/net/cloud"}`: "",
	` {"location": "BASE/body", "use_registry_credentials": true}`:               "/body with",
	` {"location": "BASE/body", "use_registry_credentials": false}`:              "/body without",
	` {"location": "/body", "use_registry_credentials": true}`:                   "/body with",
	` {"location": "../../../../../../body", "use_registry_credentials": false}`: "/body without",
	`/header.tgz {"location": "/body", "use_registry_credentials": "no"}`:        "",
	` {"location": "ftp://example.com/body", "use_registry_credentials": false}`: "",
	` {"location": "git::BASE/body.git", "use_registry_credentials": false}`:     "",
	` {"location": "/body#x", "use_registry_credentials": false}`:                "",
}

// In OpenTofu's place, the body of a registry's answer says where a package is, and the header only where the body doesn't.
func TestRegistry_BodiesSayWherePackagesAre(t *testing.T) {
	tofu, noTofu := peertest.PeerProgram("tofu")
	for answer, want := range bodyCases {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			header, body, _ := strings.Cut(answer, " ")
			fetched, token, served := strings.Cut(want, " ")
			registry := newRegistry(t)
			based := func(text string) string { return strings.ReplaceAll(text, "BASE", registry.BaseURL()) }
			archive := providertest.TarGz(texts{"sub/main.tf": ""})
			for _, name := range []string{"body", "body.tgz", "header.tgz"} {
				registry.AddArchive(name, archive)
			}
			addNet(registry, "1.0.0")
			registry.Break("module/download", providertest.Fault{Status: 200, Header: http.Header{"X-Terraform-Get": {based(header)}},
				Body: func([]byte) []byte { return []byte(based(body)) }})
			registries := newRegistries(registry)
			registries.Product = asOpenTofu
			got, err := registries.Locate(t.Context(), netModule, "1.0.0", false)
			remote := Remote{Package: registry.BaseURL() + fetched, Subdir: "sub", Served: Served{Here: served}}
			if token == "with" {
				remote.Served.TokenOf = "example.com"
			}
			if want == "" && err == nil || want != "" && (err != nil || got != remote) {
				t.Errorf("got %+v, %v", got, err)
			}
			if noTofu != nil || testing.Short() {
				return
			}
			dir := t.TempDir()
			write(t, dir, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", netModule))
			cmd := peertest.Command(t.Context(), tofu, dir, must.Get(registry.Env(t.TempDir(), "example.com"))(t), "get", "-no-color")
			if out, err := cmd.CombinedOutput(); (err == nil) != (want != "") || err == nil && !wasAsked(registry, fetched) {
				t.Errorf("tofu: %v\n%s", err, out)
			}
		})
	}
}
