// Package embed builds and runs the programs of testdata/embed, which use the
// engine's packages as other programs do.
package embed

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// embedPackage is a small program that embeds the engine.
const embedPackage = "testdata/embed/install"

// maxEmbedBytes is the maximum size of that program, stripped.
const maxEmbedBytes = 12_000_000

// embedModules are the third-party modules that the engine's packages may import.
// No go-getter, no cloud SDK, no terminal and no command library: a
// program that embeds the engine must not pay for dependencies of the command.
var embedModules = []string{
	"github.com/ProtonMail/go-crypto",
	"github.com/agext/levenshtein",
	"github.com/apparentlymart/go-textseg/v15",
	"github.com/cloudflare/circl",
	"github.com/hashicorp/go-cleanhttp",
	"github.com/hashicorp/go-retryablehttp",
	"github.com/hashicorp/hcl/v2",
	"github.com/hashicorp/terraform-svchost",
	"github.com/klauspost/compress",
	"github.com/mitchellh/go-wordwrap",
	"github.com/zclconf/go-cty",
	"golang.org/x/crypto",
	"golang.org/x/net",
	"golang.org/x/sys",
	"golang.org/x/text",
}

func TestEmbed_IsSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links a program")
	}
	program := buildEmbed(t)
	info := must.Get(os.Stat(program))(t)
	t.Logf("%d bytes", info.Size())
	most := int64(maxEmbedBytes)
	if runtime.GOOS == "windows" { // whose programs have more tables
		most += most / 100
	}
	must.Equal(t, info.Size() < most, true, "the bytes of a program that embeds the engine")
}

func TestEmbed_ProgramsAreShort(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob(harness.Path(t, "testdata", "embed", "*", "*.go"))
	if err != nil || len(programs) < 9 {
		t.Fatalf("found %q, %v", programs, err)
	}
	for _, program := range programs {
		if lines := strings.Count(harness.ReadText(t, program), "\n"); lines >= 80 {
			t.Errorf("%s has %d lines, want fewer than 80", program, lines)
		}
	}
}

func TestEmbed_IsLight(t *testing.T) {
	for _, module := range heavyModules(goListModules(t, embedPackage)) {
		t.Errorf("%s came below the engine", module)
	}
}

// TestHeavyModules_CanFail: the command needs modules that the engine must not have, so
// the check that passes for the engine has to fail for the command.
func TestHeavyModules_CanFail(t *testing.T) {
	must.Contain(t, heavyModules(goListModules(t, ".")), "github.com/mitchellh/cli")
}

// heavyModules returns the modules that the engine must not import.
func heavyModules(modules []string) []string {
	return slices.DeleteFunc(modules, func(m string) bool {
		return m == "github.com/tfdeps/tfdeps" || slices.Contains(embedModules, m)
	})
}

// goListModules returns the modules that packages depend on.
func goListModules(t *testing.T, pkgs ...string) []string {
	t.Helper()
	args := []string{"list", "-C", harness.Path(t), "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}
	for _, pkg := range pkgs {
		args = append(args, "./"+pkg)
	}
	out, err := harness.GoCommand(args...).Output()
	must.Succeed(t, err, harness.StderrOf(err))
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}

// buildEmbed builds the program as for a release.
func buildEmbed(tb testing.TB) string {
	tb.Helper()
	return harness.Build(tb, embedPackage)
}

// BenchmarkEmbedStart measures the start of a program that embeds the engine: the process and the
// package initialization. The budget is 4 ms.
func BenchmarkEmbedStart(b *testing.B) {
	program := buildEmbed(b)
	for b.Loop() {
		// Without arguments it only prints its usage, and exits with 1.
		if err := exec.Command(program).Run(); err == nil {
			b.Fatal("started without arguments, the program did something")
		}
	}
}

// maxKindBytes is what each kind of bucket may add to a stripped program that has HTTP and the engine already.
const maxKindBytes = 6_000_000

// bucketProgram reads and writes all objects of a bucket, and asks a registry, with placeholders for further imports and statements
// before that.
const bucketProgram = `package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
%s)

func directory(_ context.Context, u *url.URL) (blob.Bucket, error) { return blob.NewDirectory(u.Path), nil }

func main() {
	ctx, openers, client := context.Background(), buckets.Openers{"file": directory}, hosts.DefaultClient()
	var source getproviders.Source = &getproviders.RegistrySource{Client: client}
%s
	bucket, err := openers.Open(ctx, os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer bucket.Close()
	fmt.Println(bucket.Put(ctx, "key", blob.Bytes(nil), blob.PutOptions{}))
	fmt.Println(blob.ReadAll(ctx, bucket, "key", 1))
	fmt.Println(source.Versions(ctx, getproviders.Provider{}))
	fmt.Println(source.Package(ctx, getproviders.Provider{}, getproviders.Version{}, getproviders.Platform{}))
}
`

// bucketKinds are the kinds of buckets that a program can import.
var bucketKinds = map[string]struct{ imports, statements string }{
	"internal/s3":  {`"github.com/tfdeps/tfdeps/internal/s3"`, `openers["s3"] = s3.Open`},
	"internal/gcs": {`"github.com/tfdeps/tfdeps/internal/gcs"`, `openers["gs"] = gcs.Opener{Client: client}.Open`},
	"internal/oci": {`"github.com/tfdeps/tfdeps/internal/oci"`, `registry := &oci.Client{HTTP: client}
	source = &oci.Source{Client: registry}
	fmt.Println(registry.Push(ctx, oci.Repository{}, oci.Release{}))
	fmt.Println(registry.Module(ctx, oci.Repository{}, "", ""))`},
}

// TestEmbed_BucketsAreSmall links a small program with each kind of bucket, and without any.
func TestEmbed_BucketsAreSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links programs")
	}
	base := bucketProgramSize(t, "", "")
	for kind, uses := range bucketKinds {
		added := bucketProgramSize(t, "\t"+uses.imports+"\n", "\t"+uses.statements+"\n") - base
		t.Logf("%s adds %d bytes to %d", kind, added, base)
		if added > maxKindBytes {
			t.Errorf("%s adds %d bytes, want at most %d", kind, added, maxKindBytes)
		}
		if added < 50_000 {
			t.Errorf("%s adds %d bytes: it isn't in the program", kind, added)
		}
	}
}

// bucketProgramSize builds the program as for a release, and returns its size.
func bucketProgramSize(t *testing.T, imports, statements string) int64 {
	t.Helper()
	dir := t.TempDir()
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	must.Write(t, source, fmt.Sprintf(bucketProgram, imports, statements))
	// The program replaces another one of this module by an overlay, because the kinds of bucket are internal packages.
	must.Write(t, overlay, must.Get(json.Marshal(map[string]any{"Replace": map[string]string{peertest.ScriptPath(harness.Path(t, embedPackage, "main.go")): peertest.ScriptPath(source)}}))(t))
	return must.Get(os.Stat(harness.Build(t, embedPackage, "-overlay="+overlay)))(t).Size()
}

// TestEmbed_BucketsAreImportedIfWanted: the packages blob, mirror and mirrorserver import no
// kind of bucket except the directory.
func TestEmbed_BucketsAreImportedIfWanted(t *testing.T) {
	t.Parallel()
	for _, module := range heavyModules(goListModules(t, "providercache/blob", "providercache/mirror", "providercache/mirrorserver")) {
		t.Errorf("one of them needs %s", module)
	}
	for pkg := range bucketKinds {
		if len(heavyModules(goListModules(t, pkg))) == 0 {
			t.Errorf("%s needs nothing more, so that this test can't fail", pkg)
		}
	}
}

// world is the registry and the environment of the programs.
type world struct {
	registry *providertest.Registry
	dir      string
	ca       string // the file with the registry's CA certificate
	env      []string
}

func newWorld(t *testing.T) world {
	t.Helper()
	if runtime.GOOS == "darwin" {
		t.Skip("Go doesn't read SSL_CERT_FILE there")
	}
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for _, version := range []string{"1.0.0", "1.1.0"} {
		for _, platform := range []getproviders.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"}} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform, Archive: widget(t, version, platform)})
		}
	}
	w := world{registry: registry, dir: t.TempDir(), ca: harness.WriteCAs(t, []*providertest.Registry{registry})}
	w.env = harness.Env(t, "SSL_CERT_FILE="+w.ca)
	return w
}

// widget returns a package whose executable prints its version and platform.
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
	must.Equal(t, end.Code, code, program, args, end)
	return end.Out, end.Err
}

// address is that of the provider, which has the versions 1.0.0 and 1.1.0.
func (w world) address(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a host has a port")
	}
	return w.registry.Host() + "/acme/widget"
}

// in returns a path below the directory of the program.
func (w world) in(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}

// TestEmbed_ProgramsRun runs the programs.
func TestEmbed_ProgramsRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, world){
		"install shows progress":      installShowsProgress,
		"installs from a database":    installsFromADatabase,
		"plan does nothing":           planDoesNothing,
		"ensure and start":            ensureAndStart,
		"lock, mirror and vendor":     lockMirrorAndVendor,
		"requirements of a directory": requirementsOfADirectory,
		"own authority and token":     ownAuthorityAndToken,
		"policy forbids versions":     policyForbidsVersions,
		"errors by kind":              errorsByKind,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t))
		})
	}
}

func installShowsProgress(t *testing.T, w world) {
	said, _ := w.run(t, 0, "install", w.address(t), "~> 1.0.0", w.dir)
	must.Contain(t, said, "widget 1.0.0: 0 of ")
	must.Contain(t, said, "widget 1.0.0: self-signed")
	must.Contain(t, harness.LockOf(t, w.dir), `version     = "1.0.0"`)
	before := w.registry.Requests("")
	w.run(t, 0, "install", w.address(t), "~> 1.0.0", w.dir)
	must.Equal(t, w.registry.Requests(""), before, "installed and locked")
}

func installsFromADatabase(t *testing.T, w world) {
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

func planDoesNothing(t *testing.T, w world) {
	said, _ := w.run(t, 0, "plan", w.dir, w.address(t))
	var plan struct {
		Fetch []struct{ Provider, Version string }
	}
	must.Succeed(t, json.Unmarshal([]byte(said), &plan), said)
	must.Len(t, plan.Fetch, 1, said)
	must.Equal(t, plan.Fetch[0].Version, "1.1.0")
	must.Len(t, must.Get(os.ReadDir(w.dir))(t), 0)
	must.Equal(t, w.registry.Requests("archive"), 0)
}

func ensureAndStart(t *testing.T, w world) {
	for range 2 {
		said, _ := w.run(t, 0, "ensure", w.address(t), ">= 1.0", w.dir)
		must.Contain(t, said, "widget 1.1.0 for ")
	}
	must.Equal(t, w.registry.Requests("archive"), 1)
}

func lockMirrorAndVendor(t *testing.T, w world) {
	w.run(t, 0, "everywhere", w.address(t), w.dir)
	must.Equal(t, strings.Count(harness.LockOf(t, w.dir), `"h1:`), 2)
	for _, dir := range []string{w.in("mirror"), w.in("terraform.d", "plugins")} {
		must.Len(t, must.Get(filepath.Glob(filepath.Join(dir, "*/acme/widget/terraform-provider-widget_1.1.0_*.zip")))(t), 2, dir)
	}
	must.Equal(t, w.registry.Requests("archive"), 2, "once for each platform, for all three")
	must.Refuse(os.Stat(w.in("archives")))(t, "archives are left")
}

func requirementsOfADirectory(t *testing.T, w world) {
	must.Write(t, w.in("main.tf"), "terraform {\n  required_providers {\n    a = { source = \"example.com/acme/a\", version = \"~> 1.0\" }\n  }\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n")
	must.Write(t, w.in("m", "main.tf"), "resource \"b_thing\" \"x\" {}\n")
	must.Write(t, w.in("terraform.tfstate"), `{"version": 4, "resources": [
		{"mode": "managed", "type": "c_thing", "name": "x", "provider": "provider[\"example.com/acme/c\"]", "instances": []}]}`)
	w.env = append(w.env, "TF_DATA_DIR=")
	must.Write(t, w.in(".terraform", "modules", "modules.json"), `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}`)
	said, _ := w.run(t, 0, "requirements", w.dir)
	must.Equal(t, said, "example.com/acme/a \"~> 1.0\"\nexample.com/acme/c \"\"\nregistry.terraform.io/hashicorp/b \"\"\n")
}

func ownAuthorityAndToken(t *testing.T, w world) {
	w.registry.RequireToken("s3cr3t", "versions", "package")
	w.env = harness.Env(t) // without the system's CA certificates
	said, _ := w.run(t, 0, "company", w.address(t), w.dir, w.ca, "s3cr3t")
	must.Contain(t, said, "/acme/widget 1.1.0\n")
	w.run(t, 1, "company", w.address(t), t.TempDir(), w.ca, "another")
	for _, request := range w.registry.Log() {
		must.Equal(t, request.Kind == "archive" && request.Header.Get("Authorization") != "", false, "the archive's server got the token")
	}
}

func policyForbidsVersions(t *testing.T, w world) {
	_, complaint := w.run(t, 2, "policy", w.address(t), w.dir, "1.1.0")
	must.Contain(t, complaint, "/acme/widget 1.1.0: refused by policy: the company forbids version 1.1.0, which is fetched\n")
	said, _ := w.run(t, 0, "policy", w.address(t), w.dir)
	must.Contain(t, said, "/acme/widget 1.1.0\n")
	_, complaint = w.run(t, 2, "policy", w.address(t), w.dir, "1.1.0")
	must.Contain(t, complaint, ", which is present\n")
}

func errorsByKind(t *testing.T, w world) {
	address := strings.TrimSuffix(w.address(t), "widget")
	says := func(address, constraint, want string) {
		said, _ := w.run(t, 1, "errors", address, constraint, w.dir)
		must.Equal(t, said, want+"\n", address, constraint)
	}
	says(address+"nothing", "", "no such provider")
	says(w.address(t), "> 9.0", "no such version")
	says("localhost:1/acme/widget", "", "try again later")
	w.registry.Break("archive", providertest.Fault{Body: func(body []byte) []byte { return body[:len(body)-1] }})
	says(w.address(t), "", "not what its publisher signed")
	w.registry.Break("archive", providertest.Fault{})
	w.registry.RequireToken("s3cr3t", "versions")
	says(w.address(t), "", "a token is wanted")
}
