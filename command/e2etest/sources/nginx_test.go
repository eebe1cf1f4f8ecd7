package sources

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// mirrorTree is a directory with a mirror, and what a configuration needs of
// it.
type mirrorTree struct {
	dir      string
	provider string // host/namespace/type
	version  string // the newest one that the mirror has
	target   string // by which a bucket is named that it is in; "": it isn't in one
	env      []string
}

// TestMirror_ServedByNginx installs from mirrors that tfdeps, in a bucket, and a
// person have written: by https from a real nginx, and right from the disk.
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

// install has tfdeps install by a method, and the real terraform look at it.
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
	if end := harness.Exec(t, dir, append(env, "AWS_ACCESS_KEY_ID=other", "AWS_SECRET_ACCESS_KEY=other"), program, "init", "-input=false", "-upgrade"); end.Code == 0 || !strings.Contains(end.Said(), "s3://bucket/pre/fix") {
		t.Errorf("with other credentials: %s", end)
	}
}

// mirrorInBucket has tfdeps write a mirror of a registry's packages, for two platforms, to a prefix of a bucket, whose server keeps objects as
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

// serveByNginx serves a directory as a static website does. It returns the URL of the directory, and what tells the paths that
// have been asked for so far.
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
      alias "`+mirror+`/";
    }
  }`, map[string][]byte{"server.pem": certificate, "server.key": key})
	return "https://localhost" + address[strings.LastIndex(address, ":"):] + "/providers/", func() []string {
		return strings.Fields(harness.ReadText(t, filepath.Join(dir, "access.log")))
	}
}
