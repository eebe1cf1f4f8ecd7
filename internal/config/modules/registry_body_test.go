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

// bodyCases are answers of a module registry to OpenTofu: header, body, and what is fetched: "body" or "header" in its name, "" if the
// answer is refused. BASE is the registry's URL.
var bodyCases = []struct {
	header, body, want string
	served, token      bool
}{
	{"", `{"location": "BASE/body.tgz"}`, "/body.tgz", false, false},
	{"", `{"location": "/body.tgz"}`, "/body.tgz", false, false},
	{"", `{"location": "../../../../../../body.tgz"}`, "/body.tgz", false, false},
	{"BASE/header.tgz", `{"location": "/body.tgz"}`, "/body.tgz", false, false},
	{"/header.tgz", `{}`, "/header.tgz", false, false},
	{"/header.tgz", `{"location": ""}`, "/header.tgz", false, false},
	{"/header.tgz", `null`, "/header.tgz", false, false},
	{"/header.tgz", `{"location": "/body.tgz", "use_registry_credentials": null}`, "/body.tgz", false, false},
	{"/header.tgz", `<html>`, "", false, false},
	{"/header.tgz", ``, "", false, false},
	{"/header.tgz", `{"location": 1}`, "", false, false},
	{"", `{}`, "", false, false},
	{"", `{"location": "body.tgz"}`, "", false, false},
	{"", `{"location": "acme/net/cloud"}`, "", false, false},
	{"", `{"location": "BASE/body", "use_registry_credentials": true}`, "/body", true, true},
	{"", `{"location": "BASE/body", "use_registry_credentials": false}`, "/body", true, false},
	{"", `{"location": "/body", "use_registry_credentials": true}`, "/body", true, true},
	{"", `{"location": "../../../../../../body", "use_registry_credentials": false}`, "/body", true, false},
	{"/header.tgz", `{"location": "/body", "use_registry_credentials": "no"}`, "", false, false},
	{"", `{"location": "ftp://example.com/body", "use_registry_credentials": false}`, "", false, false},
	{"", `{"location": "git::BASE/body.git", "use_registry_credentials": false}`, "", false, false},
	{"", `{"location": "/body#x", "use_registry_credentials": false}`, "", false, false},
}

// In OpenTofu's place, the body of a registry's answer says where a package is, and the header only where the body doesn't.
func TestRegistry_BodiesSayWherePackagesAre(t *testing.T) {
	tofu, noTofu := peertest.PeerProgram("tofu")
	for _, c := range bodyCases {
		t.Run(c.header+c.body, func(t *testing.T) {
			t.Parallel()
			registry := newRegistry(t)
			based := func(text string) string { return strings.ReplaceAll(text, "BASE", registry.BaseURL()) }
			archive := providertest.TarGz(texts{"sub/main.tf": ""})
			for _, name := range []string{"body", "body.tgz", "header.tgz"} {
				registry.AddArchive(name, archive)
			}
			addNet(registry, "1.0.0")
			registry.Break("module/download", providertest.Fault{Status: 200, Header: http.Header{"X-Terraform-Get": {based(c.header)}},
				Body: func([]byte) []byte { return []byte(based(c.body)) }})
			registries := newRegistries(registry)
			registries.Product = asOpenTofu
			got, err := registries.Locate(t.Context(), netModule, "1.0.0", false)
			want := Remote{Package: registry.BaseURL() + c.want, Subdir: "sub", Served: Served{Here: c.served}}
			if c.token {
				want.Served.TokenOf = "example.com"
			}
			if c.want == "" && err == nil || c.want != "" && (err != nil || got != want) {
				t.Errorf("got %+v, %v", got, err)
			}
			if noTofu != nil || testing.Short() {
				return
			}
			dir := t.TempDir()
			write(t, dir, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", netModule))
			cmd := peertest.Command(t.Context(), tofu, dir, must.Get(registry.Env(t.TempDir(), "example.com"))(t), "get", "-no-color")
			if out, err := cmd.CombinedOutput(); (err == nil) != (c.want != "") || err == nil && !wasAsked(registry, c.want) {
				t.Errorf("tofu: %v\n%s", err, out)
			}
		})
	}
}
