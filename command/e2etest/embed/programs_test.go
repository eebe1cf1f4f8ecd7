package embed

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// world is what the programs need.
type world struct {
	registry *providertest.Registry
	address  string // of the provider, which has the versions 1.0.0 and 1.1.0
	dir      string
	ca       string // the file with the registry's authority
	env      []string
}

func newWorld(t *testing.T) world {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("Go doesn't read SSL_CERT_FILE there")
	}
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for _, version := range []string{"1.0.0", "1.1.0"} {
		for _, platform := range []getproviders.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"}} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform, Archive: widget(t, version, platform)})
		}
	}
	w := world{registry: registry, address: registry.Host() + "/acme/widget", dir: t.TempDir(), ca: harness.WriteCAs(t, []*providertest.Registry{registry})}
	w.env = harness.Env(t, "SSL_CERT_FILE="+w.ca)
	return w
}

// widget is a package whose executable says what it is.
func widget(t *testing.T, version string, platform getproviders.Platform) []byte {
	return harness.ZipOf(t, []harness.ZipEntry{{
		Name: "terraform-provider-widget_v" + version, Mode: 0o755, Content: fmt.Sprintf("#!/bin/sh\necho widget %s for %s\n", version, platform),
	}})
}

// run runs a program, checks its exit code, and returns what it prints on stdout and stderr.
func (w world) run(t *testing.T, code int, program string, args ...string) (said, complaint string) {
	t.Helper()
	if testing.Short() && program != "install" {
		t.Skip("a short test builds one of these programs only")
	}
	end := harness.Exec(t, "", w.env, append([]string{harness.Build(t, "testdata/embed/"+program)}, args...)...)
	if end.Code != code {
		t.Fatalf("%s %q: want exit code %d: %s", program, args, code, end)
	}
	return end.Out, end.Err
}

// in is a file below the directory of the program.
func (w world) in(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}

func TestEmbed_InstallShowsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said, _ := w.run(t, 0, "install", w.address, "~> 1.0.0", w.dir)
	for _, want := range []string{"widget 1.0.0: 0 of ", "widget 1.0.0: self-signed"} {
		must.Contain(t, said, want)
	}
	must.Contain(t, harness.LockOf(t, w.dir), `version     = "1.0.0"`)
	before := w.registry.Requests("")
	if w.run(t, 0, "install", w.address, "~> 1.0.0", w.dir); w.registry.Requests("") != before {
		t.Error("installed and locked, it makes requests")
	}
}

func TestEmbed_InstallsFromADatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	platform := getproviders.CurrentPlatform()
	archive := widget(t, "2.0.0", platform)
	must.Write(t, w.in("row"), archive)
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	said, _ := w.run(t, 0, "database", "example.com/acme/widget", "2.0.0", platform.String(), w.in("row"), sum, w.dir)
	must.Equal(t, said, "example.com/acme/widget 2.0.0 verified checksum\n")
	must.Write(t, w.in("row"), widget(t, "2.0.1", platform))
	_, complaint := w.run(t, 1, "database", "example.com/acme/widget", "2.0.0", platform.String(), w.in("row"), sum, t.TempDir())
	must.Contain(t, complaint, "checksum")
}

func TestEmbed_PlanDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said, _ := w.run(t, 0, "plan", w.dir, w.address)
	var plan struct {
		Fetch []struct{ Provider, Version string }
	}
	if err := json.Unmarshal([]byte(said), &plan); err != nil || len(plan.Fetch) != 1 || plan.Fetch[0].Version != "1.1.0" {
		t.Errorf("it says %s (%v)", said, err)
	}
	if left, err := os.ReadDir(w.dir); err != nil || len(left) > 0 || w.registry.Requests("archive") > 0 {
		t.Errorf("it left %v (%v), after %d requests for archives", left, err, w.registry.Requests("archive"))
	}
}

func TestEmbed_EnsureAndStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		said, _ := w.run(t, 0, "ensure", w.address, ">= 1.0", w.dir)
		must.Contain(t, said, "widget 1.1.0 for ")
	}
	must.Equal(t, w.registry.Requests("archive"), 1)
}

func TestEmbed_LockMirrorAndVendor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t, 0, "everywhere", w.address, w.dir)
	must.Equal(t, strings.Count(harness.LockOf(t, w.dir), `"h1:`), 2)
	for _, dir := range []string{w.in("mirror"), w.in("terraform.d", "plugins")} {
		must.Len(t, must.Get(filepath.Glob(filepath.Join(dir, "*/acme/widget/terraform-provider-widget_1.1.0_*.zip")))(t), 2, dir)
	}
	if got := w.registry.Requests("archive"); got != 2 { // once for each platform, for all three
		t.Errorf("%d archives were asked for, want 2", got)
	}
	must.Refuse(os.Stat(w.in("archives")))(t, "archives are left")
}

func TestEmbed_RequirementsOfADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Write(t, w.in("main.tf"), "terraform {\n  required_providers {\n    a = { source = \"example.com/acme/a\", version = \"~> 1.0\" }\n  }\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n")
	must.Write(t, w.in("m", "main.tf"), "resource \"b_thing\" \"x\" {}\n")
	must.Write(t, w.in("terraform.tfstate"), `{"version": 4, "resources": [
		{"mode": "managed", "type": "c_thing", "name": "x", "provider": "provider[\"example.com/acme/c\"]", "instances": []}]}`)
	w.env = append(w.env, "TF_DATA_DIR=")
	must.Write(t, w.in(".terraform", "modules", "modules.json"), `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}`)
	said, _ := w.run(t, 0, "requirements", w.dir)
	must.Equal(t, said, "example.com/acme/a \"~> 1.0\"\nexample.com/acme/c \"\"\nregistry.terraform.io/hashicorp/b \"\"\n")
}

func TestEmbed_OwnAuthorityAndToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.registry.RequireToken("s3cr3t", "versions", "package")
	w.env = harness.Env(t) // where the system trusts nobody in particular
	said, _ := w.run(t, 0, "company", w.address, w.dir, w.ca, "s3cr3t")
	must.Contain(t, said, "/acme/widget 1.1.0\n")
	w.run(t, 1, "company", w.address, t.TempDir(), w.ca, "another")
	for _, request := range w.registry.Log() {
		if request.Kind == "archive" && request.Header.Get("Authorization") != "" {
			t.Error("the archive's server got the token")
		}
	}
}

func TestEmbed_PolicyForbidsVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, complaint := w.run(t, 2, "policy", w.address, w.dir, "1.1.0")
	must.Contain(t, complaint, "/acme/widget 1.1.0: refused by policy: the company forbids version 1.1.0, which is fetched\n")
	said, _ := w.run(t, 0, "policy", w.address, w.dir)
	must.Contain(t, said, "/acme/widget 1.1.0\n")
	_, complaint = w.run(t, 2, "policy", w.address, w.dir, "1.1.0")
	must.Contain(t, complaint, ", which is present\n")
}

func TestEmbed_ErrorsByKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := strings.TrimSuffix(w.address, "widget")
	says := func(address, constraint, want string) {
		said, _ := w.run(t, 1, "errors", address, constraint, w.dir)
		must.Equal(t, said, want+"\n", address, constraint)
	}
	for _, tt := range []struct{ address, constraint, want string }{
		{address + "nothing", "", "no such provider"},
		{w.address, "> 9.0", "no such version"},
		{"localhost:1/acme/widget", "", "try again later"},
	} {
		says(tt.address, tt.constraint, tt.want)
	}
	w.registry.Break("archive", providertest.Fault{Body: func(body []byte) []byte { return body[:len(body)-1] }})
	says(w.address, "", "not what its publisher signed")
	w.registry.Break("archive", providertest.Fault{})
	w.registry.RequireToken("s3cr3t", "versions")
	says(w.address, "", "a token is wanted")
}
