package sources

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci/ocitest"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// TestMirror_InAnOCIRegistry publishes to Docker's registry, with the login of Docker's own
// configuration, and installs from there: by -mirror, by the oci_mirror block of OpenTofu's CLI
// configuration, and by the real tofu, whose lock file is the same.
func TestMirror_InAnOCIRegistry(t *testing.T) {
	t.Parallel()
	program, ca := harness.Tfdeps(t), harness.NewCA(t)
	at := ocitest.Start(t, ca, true)
	origin := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	args := []string{program, "providers", "mirror", "-no-color"}
	for _, platform := range []getproviders.Platform{getproviders.CurrentPlatform(), {OS: "plan9", Arch: "mips"}} {
		for _, version := range []string{"1.0.0", "1.1.0+build"} {
			origin.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform})
		}
		args = append(args, "-platform="+platform.String())
	}
	home, widget := t.TempDir(), expandNames("$WIDGET")
	must.Write(t, filepath.Join(home, ".docker/config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`,
		at.Host, base64.StdEncoding.EncodeToString([]byte(ocitest.Username+":"+ocitest.Password))))
	direct := append(harness.Trust(t, ca, hostBlockFor("tf.example.com", origin.ServiceURL())), "HOME="+home)
	dir := func() string { return harness.WorkDir(t, requiring(widget)) }
	target := "oci://" + at.Host + "/providers/${namespace}/${type}"
	for i, versions := range []string{"1.0.0", "1.1.0+build", "1.1.0+build"} {
		harness.Run(t, dir(), direct, append(args, "-versions="+widget+"@"+versions, target)...)
		must.Equal(t, origin.Requests("archive"), min(2*(i+1), 4), i)
	}
	installed := func(program string, env []string, options ...string) string {
		dir := dir()
		harness.Run(t, dir, append(env, "TFDEPS_CACHE_DIR="+t.TempDir()), append([]string{program, "init", "-no-color"}, options...)...)
		return harness.ReadLock(t, dir)
	}
	lock := installed(program, direct, "-mirror="+target, "-mirror-fallback=exclusive")
	must.Contain(t, lock, `"1.1.0+build"`)
	must.Equal(t, origin.Requests("archive"), 4)
	key := filepath.Join(home, "acme.asc")
	must.Write(t, key, origin.Signer().Armored())
	for _, env := range [][]string{{"TFDEPS_TRUSTED_KEYS=" + key}, nil} {
		out := harness.Run(t, dir(), slices.Concat(direct, env, []string{"TFDEPS_CACHE_DIR=" + t.TempDir()}), program, "init", "-no-color", "-mirror="+target, "-mirror-fallback=exclusive")
		must.Equal(t, strings.Contains(out, "(self-signed, key ID "+origin.Signer().KeyID()), env != nil)
	}
	asIfCached := dir() // as in docs/cache-and-ci.md for CI without a cache
	must.Write(t, filepath.Join(asIfCached, ".terraform.lock.hcl"), lock)
	harness.Run(t, asIfCached, direct, program, "providers", "mirror", "-no-color", "-locked=.", target)
	harness.Run(t, asIfCached, append(direct, "TFDEPS_MIRROR="+target, "TFDEPS_CACHE_DIR="+t.TempDir()), program, "init", "-no-color", "-lockfile=readonly")
	must.Equal(t, origin.Requests("archive"), 4)
	mirrored := append(harness.Trust(t, ca, fmt.Sprintf("provider_installation {\n oci_mirror {\n  repository_template = \"%s/providers/${namespace}/${type}\"\n  include = [\"tf.example.com/*/*\"]\n }\n}\n", at.Host)), "HOME="+home)
	lock = installed(program, append(mirrored, "TFDEPS_PRODUCT=tofu"))
	harness.Refuses(t, "not authorized: the registry wants a username", dir(), append(mirrored, "TFDEPS_PRODUCT=tofu", "HOME="+t.TempDir()), program, "init", "-no-color")
	for options, wanted := range map[string]string{"": "oci_mirror " + at.Host, "-mirror=" + target: "mirror " + target} {
		env := append(mirrored, "TFDEPS_PRODUCT=tofu", "TFDEPS_TOFU_VERSION=1.12.6")
		if options != "" {
			env = append(direct, "TFDEPS_TERRAFORM_VERSION=1.15.9")
		}
		out := harness.Run(t, dir(), env, append([]string{program, "doctor", "-no-color"}, strings.Fields(options)...)...)
		must.Contain(t, out, "ok      "+strings.ReplaceAll(wanted, "_", " "), options)
		must.Contain(t, out, "tf.example.com/acme/widget: 2 versions", options)
	}
	digest := at.PushModule(t, "modules/net", "latest", providertest.Zip(files{"main.tf": "", "sub/main.tf": "locals {}\n"}))
	modulesOf := func(program string) (string, []string) {
		dir := harness.WorkDir(t, fmt.Sprintf("module \"a\" {\n source = \"oci://%[1]s/modules/net//sub\"\n}\nmodule \"b\" {\n source = \"oci://%[1]s/modules/net?digest=%[2]s\"\n}\n", at.Host, digest))
		harness.Run(t, dir, append(mirrored, "TFDEPS_PRODUCT=tofu"), program, "get", "-no-color")
		return harness.ReadText(t, filepath.Join(dir, ".terraform/modules/modules.json")), harness.ListTree(t, dir)
	}
	record, tree := modulesOf(program)
	must.Contain(t, strings.Join(tree, "\n"), "modules/a/sub/main.tf", record)
	t.Run("tofu", func(t *testing.T) {
		theirRecord, theirTree := modulesOf(harness.LookTofu(t))
		must.Equal(t, record, theirRecord)
		must.EqualSlices(t, tree, theirTree)
		must.Equal(t, installed(harness.LookTofu(t), mirrored), lock)
	})
}

// TestMirror_CreatesRepositories publishes to a registry without repositories, such as ECR, where they have to be
// created first. The command that creates them isn't run by a shell, and its output is shown if it fails.
func TestMirror_CreatesRepositories(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	program, ca := harness.Tfdeps(t), harness.NewCA(t)
	created := t.TempDir()
	front := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"errors": [{"code": "NAME_UNKNOWN", "message": "The repository does not exist in the registry"}]}`))
	})})
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
	env := append(harness.Redirect(t, registry, "registry.terraform.io"), "HOME="+t.TempDir(), "CREATED="+created)
	dir := harness.WorkDir(t, requiring("acme/widget"))
	hook := filepath.Join(dir, "create")
	must.Succeed(t, peertest.WriteProgram(hook, []byte("#!/bin/sh\n[ \"$#\" = 2 ] && [ \"$1\" = '$(>injected);' ] && [ \"$2\" = \"$OCI_REPOSITORY\" ] || exit 9\n"+
		"echo \"$OCI_REGISTRY\" >\"$CREATED/$(echo \"$2\" | tr / -)\"\n")))
	host := strings.TrimPrefix(front.BaseURL(), "https://")
	harness.Run(t, dir, env, program, "init")
	for target, args := range map[string][]string{
		"providers-acme-widget": {"providers", "mirror", "-platform=" + expandNames("$PLATFORM"), "oci://" + host + "/providers/${namespace}/${type}"},
	} {
		options, location := args[:len(args)-1], args[len(args)-1]
		failing := func(says string, more ...string) {
			t.Helper()
			harness.Refuses(t, says, dir, env, slices.Concat([]string{program}, options, more, []string{"-no-color", location})...)
		}
		failing("doesn't make repositories by itself")
		broken := filepath.Join(dir, "broken")
		must.Succeed(t, peertest.WriteProgram(broken, []byte("#!/bin/sh\necho An error occurred: AccessDeniedException\nexit 254\n")))
		failing("exit status 254", "-create-repository="+broken)
		failing("AccessDeniedException", "-create-repository="+broken)
		failing("", "-create-repository="+hook+" $(>injected);")
		must.Equal(t, strings.TrimSpace(harness.ReadText(t, filepath.Join(created, target))), host, target)
	}
	must.Refuse(os.Stat(filepath.Join(dir, "injected")))(t, "a shell has read the command")
}

// mirrorTree is a directory with a mirror, and what a configuration needs of
// it.
type mirrorTree struct {
	dir      string
	provider string // host/namespace/type
	version  string // the newest one that the mirror has
	target   string // the URL of its bucket, or ""
	env      []string
}

// TestMirror_ServedByNginx installs from a mirror that tfdeps has written into a bucket, and from one written by
// hand: by https from a real nginx, and directly from the disk.
// The real terraform finds nothing to change afterwards.
func TestMirror_ServedByNginx(t *testing.T) {
	t.Parallel()
	peer, program, ca := harness.LookTerraform(t), harness.Tfdeps(t), harness.NewCA(t)
	for name, tree := range map[string]mirrorTree{"in a bucket": mirrorInBucket(t, ca, program), "by hand": mirrorByHand(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, requests := serveByNginx(t, ca, tree.dir)
			tree.install(t, ca, fmt.Sprintf("network_mirror { url = %q }", url), program, peer)
			below := "/providers/" + tree.provider + "/"
			for _, file := range []string{"index.json", tree.version + ".json", packedName(tree)} {
				if !slices.Contains(requests(), below+file) {
					t.Errorf("nobody has asked nginx for %s%s, only for %q", below, file, requests())
				}
			}
			tree.install(t, ca, fmt.Sprintf("filesystem_mirror { path = %q }", tree.dir), program, peer)
			if tree.target != "" {
				tree.installFromBucket(t, program)
			}
		})
	}
}

func packedName(tree mirrorTree) string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", filepath.Base(tree.provider), tree.version, getproviders.CurrentPlatform())
}

// install installs by a method with tfdeps, and checks the result with the real terraform.
func (m mirrorTree) install(t *testing.T, ca *providertest.CA, method, program, peer string) {
	t.Helper()
	dir, env := harness.WorkDir(t, requiring(m.provider)), harness.Trust(t, ca, "provider_installation {\n  "+method+"\n}\n")
	harness.Run(t, dir, env, program, "init", "-input=false")
	lock, tree := harness.ReadLock(t, dir), harness.ListTree(t, dir)
	must.Contain(t, lock, fmt.Sprintf("provider %q {\n  version = %q\n  hashes = [\n    \"h1:", m.provider, m.version), method)
	harness.Run(t, dir, env, peer, "init", "-input=false")
	must.Equal(t, harness.ReadLock(t, dir), lock, method)
	must.EqualSlices(t, harness.ListTree(t, dir), tree, method, strings.Join(tree, "\n"))
}

// installFromBucket has tfdeps read the bucket itself, with its credentials and without.
func (m mirrorTree) installFromBucket(t *testing.T, program string) {
	t.Helper()
	dir, env := harness.WorkDir(t, requiring(m.provider)), append(harness.Env(t), "TFDEPS_MIRROR="+m.target, "TFDEPS_MIRROR_FALLBACK=exclusive")
	harness.Run(t, dir, append(env, m.env...), program, "init", "-input=false")
	must.Contain(t, harness.ReadLock(t, dir), m.version)
	harness.Refuses(t, "s3://bucket/pre/fix", dir, append(env, "AWS_ACCESS_KEY_ID=other", "AWS_SECRET_ACCESS_KEY=other"), program, "init", "-input=false", "-upgrade")
}

// mirrorInBucket writes a mirror of a registry's packages, for two platforms, with tfdeps to a prefix of a bucket, whose server keeps objects as
// files.
func mirrorInBucket(t *testing.T, ca *providertest.CA, program string) mirrorTree {
	t.Helper()
	server := storagetest.StartVersity(t, "bucket")
	tree := mirrorTree{
		dir: filepath.Join(server.Dir, "bucket/pre/fix"), provider: expandNames("$WIDGET"), version: "1.1.0",
		target: "s3://bucket/pre/fix?region=" + storagetest.VersityRegion + "&endpoint=" + server.Endpoint,
		env:    []string{"AWS_ACCESS_KEY_ID=" + storagetest.VersityID, "AWS_SECRET_ACCESS_KEY=" + storagetest.VersitySecret},
	}
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	line := []string{program, "providers", "mirror"}
	for _, platform := range []getproviders.Platform{getproviders.CurrentPlatform(), {OS: "plan9", Arch: "mips"}} {
		for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform})
		}
		line = append(line, "-platform="+platform.String())
	}
	env := append(harness.Trust(t, ca, hostBlockFor("tf.example.com", registry.ServiceURL())), tree.env...)
	// The older version comes first, so that the mirror's index grows.
	for _, constraints := range []string{"1.0.0", "~> 1.0"} {
		harness.Run(t, harness.WorkDir(t, requiring(tree.provider+" "+constraints)), env, append(line, tree.target)...)
	}
	return tree
}

// mirrorByHand writes the mirror that the protocol's description shows: the
// archives beside two kinds of documents, which name them by relative URLs and
// hash them with h1.
func mirrorByHand(t *testing.T) mirrorTree {
	t.Helper()
	type archive struct {
		URL    string   `json:"url"`
		Hashes []string `json:"hashes"`
	}
	tree := mirrorTree{dir: t.TempDir(), provider: "registry.terraform.io/hashicorp/random", version: "2.0.1"}
	versions := map[string]struct{}{}
	for _, version := range []string{"2.0.0", tree.version} {
		archives := map[string]archive{}
		for _, platform := range []string{"plan9_mips", getproviders.CurrentPlatform().String()} {
			name := fmt.Sprintf("terraform-provider-random_%s_%s.zip", version, platform)
			writeUnder(t, tree.dir, tree.provider+"/"+name, packedFrom(name))
			hash := must.Get(dirhash.HashZip(filepath.Join(tree.dir, tree.provider, name), dirhash.Hash1))(t)
			archives[platform] = archive{URL: name, Hashes: []string{hash}}
		}
		versions[version] = struct{}{}
		writeJSON(t, tree, version+".json", map[string]any{"archives": archives})
	}
	writeJSON(t, tree, "index.json", map[string]any{"versions": versions})
	return tree
}

func writeJSON(t *testing.T, tree mirrorTree, name string, document any) {
	t.Helper()
	text := must.Get(json.MarshalIndent(document, "", "  "))(t)
	writeUnder(t, tree.dir, tree.provider+"/"+name, text)
}

// serveByNginx serves a directory as a static website does. It returns the URL of the directory, and a function that returns the paths
// requested so far.
func serveByNginx(t *testing.T, ca *providertest.CA, mirror string) (url string, requests func() []string) {
	t.Helper()
	certificate, key, err := ca.ServerPEM()
	must.Succeed(t, err)
	address, dir := harness.StartNginx(t, `
  types {
    application/json json;
    application/zip  zip;
  }
  server {
    listen ADDRESS ssl;
    ssl_certificate     server.pem;
    ssl_certificate_key server.key;
    location /providers/ {
      alias "`+peertest.ScriptPath(mirror)+`/";
    }
  }`, map[string][]byte{"server.pem": certificate, "server.key": key})
	return "https://localhost" + address[strings.LastIndex(address, ":"):] + "/providers/", func() []string {
		return strings.Fields(harness.ReadText(t, filepath.Join(dir, "access.log")))
	}
}
