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
}

// TestMirror_ServedByNginx installs from mirrors that the real terraform and a
// person have written: by https from a real nginx, and right from the disk.
// The real terraform finds nothing to change afterwards.
func TestMirror_ServedByNginx(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	program := harness.Tfdeps(t)
	ca, place := harness.NewCA(t), bucketPlace(t)
	for name, tree := range map[string]mirrorTree{
		"by terraform providers mirror": mirrorByTerraform(t, ca, peer, placeOf(t.TempDir())),
		"by tfdeps providers mirror":    mirrorByTerraform(t, ca, program, placeOf(t.TempDir())),
		"in a bucket":                   mirrorByTerraform(t, ca, program, place),
		"by hand":                       mirrorByHand(t),
	} {
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
			if name == "in a bucket" {
				tree.installFromBucket(t, program, place)
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
	dir, env := t.TempDir(), harness.Trust(t, ca, "provider_installation {\n  "+method+"\n}\n")
	must.Write(t, filepath.Join(dir, "main.tf"), requiring(m.provider))
	harness.Run(t, dir, env, program, "init", "-input=false")
	lock, tree := harness.ReadLock(t, dir), harness.ListTree(t, dir)
	must.Contain(t, lock, fmt.Sprintf("provider %q {\n  version = %q\n  hashes = [\n    \"h1:", m.provider, m.version), method)
	harness.Run(t, dir, env, peer, "init", "-input=false")
	must.Equal(t, harness.ReadLock(t, dir), lock, method)
	must.EqualSlices(t, harness.ListTree(t, dir), tree, method, strings.Join(tree, "\n"))
}

// installFromBucket has tfdeps read the bucket itself, with its credentials and without.
func (m mirrorTree) installFromBucket(t *testing.T, program string, place mirrorPlace) {
	t.Helper()
	dir, env := t.TempDir(), append(harness.Env(t), "TFDEPS_MIRROR="+place.target, "TFDEPS_MIRROR_FALLBACK=exclusive")
	must.Write(t, filepath.Join(dir, "main.tf"), requiring(m.provider))
	harness.Run(t, dir, append(env, place.env...), program, "init", "-input=false")
	must.Contain(t, harness.ReadLock(t, dir), m.version)
	if end := harness.Exec(t, dir, append(env, "AWS_ACCESS_KEY_ID=other", "AWS_SECRET_ACCESS_KEY=other"), program, "init", "-input=false", "-upgrade"); end.Code == 0 || !strings.Contains(end.Said(), "s3://bucket/pre/fix") {
		t.Errorf("with other credentials: %s", end)
	}
}

// mirrorPlace is where a mirror is to be.
type mirrorPlace struct {
	dir    string   // in which its files are
	target string   // by which it is named
	env    []string // what the program needs to write there
}

func placeOf(dir string) mirrorPlace { return mirrorPlace{dir: dir, target: dir} }

// bucketPlace is a prefix of a bucket, whose server keeps objects as files.
func bucketPlace(t *testing.T) mirrorPlace {
	t.Helper()
	server := storagetest.StartVersity(t, "bucket")
	return mirrorPlace{
		dir: filepath.Join(server.Dir, "bucket/pre/fix"), target: "s3://bucket/pre/fix?region=" + storagetest.VersityRegion + "&endpoint=" + server.Endpoint,
		env: []string{"AWS_ACCESS_KEY_ID=" + storagetest.VersityID, "AWS_SECRET_ACCESS_KEY=" + storagetest.VersitySecret},
	}
}

// mirrorByTerraform has the real terraform, or tfdeps, write a mirror of a
// registry's packages, for two platforms.
func mirrorByTerraform(t *testing.T, ca *providertest.CA, program string, place mirrorPlace) mirrorTree {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	platforms := []getproviders.Platform{getproviders.CurrentPlatform(), {OS: "plan9", Arch: "mips"}}
	args := []string{"providers", "mirror"}
	for _, platform := range platforms {
		for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform})
		}
		args = append(args, "-platform="+platform.String())
	}
	tree := mirrorTree{dir: place.dir, provider: expandNames("$WIDGET"), version: "1.1.0"}
	work, env := t.TempDir(), append(harness.Trust(t, ca, hostBlockFor("tf.example.com", registry.ServiceURL())), place.env...)
	// The older version comes first, so that the mirror's index grows.
	for _, constraints := range []string{"1.0.0", "~> 1.0"} {
		config := requiring(tree.provider + " " + constraints)
		must.Write(t, filepath.Join(work, "main.tf"), config)
		harness.Run(t, work, env, slices.Concat([]string{program}, args, []string{place.target})...)
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
