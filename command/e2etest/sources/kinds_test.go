package sources

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci/ocitest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// kind is a place past one machine.
type kind struct {
	publish, mirror string   // where a mirror is written to, and the URL that it is read from
	push, pull      string   // the same of packages of a cache
	seen            string   // how URLs begin that are shown of it
	env             []string // which programs need for it
}

// kinds start the services. All of them trust ca.
var kinds = map[string]func(t *testing.T, ca *providertest.CA) kind{
	"s3": func(t *testing.T, _ *providertest.CA) kind {
		server := storagetest.StartVersity(t, "bucket")
		query := "?region=" + storagetest.VersityRegion + "&endpoint=" + server.Endpoint
		return sameKind("s3://bucket/mirror"+query, "s3://bucket/ci"+query, "s3://bucket/",
			"AWS_ACCESS_KEY_ID="+storagetest.VersityID, "AWS_SECRET_ACCESS_KEY="+storagetest.VersitySecret)
	},
	"gs": func(t *testing.T, _ *providertest.CA) kind {
		return sameKind("gs://bucket/mirror", "gs://bucket/ci", "gs://bucket/", storagetest.StartGCS(t).Variable())
	},
	"oci": func(t *testing.T, ca *providertest.CA) kind {
		at := "oci://" + ocitest.Start(t, ca, false).Host + "/"
		return sameKind(at+"providers/${namespace}/${type}", at+"ci", at)
	},
	"https": func(t *testing.T, ca *providertest.CA) kind {
		dir := t.TempDir()
		server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.FileServer(http.Dir(dir))})
		url := server.BaseURL() + "/"
		return kind{publish: filepath.Join(dir, "mirror"), mirror: url + "mirror/", push: filepath.Join(dir, "ci"), pull: url + "ci", seen: url}
	},
}

func sameKind(mirror, shared, seen string, env ...string) kind {
	return kind{publish: mirror, mirror: mirror, push: shared, pull: shared, seen: seen, env: env}
}

// TestKinds_ServeAllCommands publishes to each kind of place, and then has every command work from
// there while the registry is down: providers lock, urls and vendor from the mirror; init after
// cache pull, without a request. The real terraform accepts the directory as it is.
func TestKinds_ServeAllCommands(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	for name, start := range kinds {
		if testing.Short() && (name == "gs" || name == "https") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := harness.NewCA(t)
			k, registry := start(t, ca), harness.NewLockRegistry(t, ca)
			direct := append(harness.Redirect(t, registry, "registry.terraform.io"), k.env...)
			dir := func(lock string) string {
				dir := harness.WorkDir(t, harness.LockConfig("a", "1.1.0", "e", "1.0.0"))
				if lock != "" {
					must.Write(t, filepath.Join(dir, ".terraform.lock.hcl"), lock)
				}
				return dir
			}
			machine := func() []string { // one that has nothing yet
				return slices.Concat(direct, []string{"HOME=" + t.TempDir()})
			}
			first, env := dir(""), machine()
			run := func(dir string, args ...string) string {
				return harness.Run(t, dir, env, append([]string{program}, args...)...)
			}
			run(first, "init")
			run(first, "providers", "mirror", "-platform=linux_amd64", "-platform=darwin_arm64", k.publish)
			must.Contain(t, run(first, "cache", "push", k.push), "Sent 2 packages to "+strings.TrimSuffix(strings.SplitN(k.push, "?", 2)[0], "/"))
			if said := run(first, "cache", "push", k.push); !strings.Contains(said, "Sent 0 packages to ") || !strings.Contains(said, "2 more were there already") {
				t.Errorf("cache push says the second time: %s", said)
			}
			lock, before := harness.ReadLock(t, first), registry.Requests("all")
			harness.TakeDown(registry)

			env = machine()
			locked := dir(lock)
			run(locked, "providers", "lock", "-mirror="+k.mirror, "-platform=linux_amd64", "-platform=darwin_arm64")
			must.Equal(t, strings.Count(harness.ReadLock(t, locked), `"h1:`), 4)
			if said := run(locked, "providers", "urls", "-json", "-mirror="+k.mirror); strings.Count(said, `": "`+k.seen) < 2 {
				t.Errorf("providers urls says %s", said)
			}
			vendored := dir(lock)
			run(vendored, "vendor", "-mirror="+k.mirror)
			if got, _ := filepath.Glob(filepath.Join(vendored, "terraform.d/plugins/registry.terraform.io/acme/*/*")); len(got) < 2 {
				t.Errorf("vendored are %q", got)
			}

			env = machine()
			pulled := dir(lock)
			must.Contain(t, run(pulled, "cache", "pull", k.pull), "Pulled 2 packages from ")
			must.Contain(t, run(pulled, "cache", "pull", "-platform=darwin_arm64", k.pull), "Pulled 0 packages from ")
			run(pulled, "init", "-offline", "-lockfile=readonly")
			must.Equal(t, registry.Requests("all")-before, 0)
			for _, what := range []string{"discovery", "versions"} { // which terraform asks for
				registry.Break(what, providertest.Fault{})
			}
			harness.Run(t, pulled, env, harness.LookTerraform(t), "init", "-no-color")
			must.Equal(t, harness.ReadLock(t, pulled), lock)
		})
	}
}

// TestMirror_IsTheOnlySource fills each kind of place with a tree of the real terraform providers mirror. What -mirror names
// decides the versions, without a request to the registry, which has newer ones; and the lock file is that of the real
// terraform where it can read the place.
func TestMirror_IsTheOnlySource(t *testing.T) {
	t.Parallel()
	peer, program := harness.LookTerraform(t), harness.Tfdeps(t)
	all := maps.Clone(kinds)
	all["dir"] = func(t *testing.T, _ *providertest.CA) kind {
		dir := filepath.Join(t.TempDir(), "mirror")
		return kind{publish: dir, mirror: dir}
	}
	for name, start := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := harness.NewCA(t)
			k, registry := start(t, ca), harness.NewLockRegistry(t, ca)
			direct := slices.Concat(harness.Redirect(t, registry, "registry.terraform.io"), k.env, []string{"HOME=" + t.TempDir()})
			tree := k.publish
			if strings.Contains(tree, "://") {
				tree = filepath.Join(t.TempDir(), "tree")
			}
			older := harness.WorkDir(t, harness.LockConfig("a", "1.1.0", "e", "1.0.0"))
			harness.Run(t, older, direct, peer, "providers", "mirror", "-platform=linux_amd64", "-platform="+expandNames("$PLATFORM"), tree)
			if tree != k.publish {
				harness.Run(t, older, direct, program, "providers", "mirror", "-fs-mirror="+tree, "-platform=linux_amd64", "-platform="+expandNames("$PLATFORM"), k.publish)
			}
			before, config := registry.Requests("all"), harness.LockConfig("a", "", "e", "")
			dir := harness.WorkDir(t, config)
			must.Contain(t, harness.Run(t, dir, append(direct, "HOME="+t.TempDir()), program, "init", "-no-color", "-mirror="+k.mirror), "Installed acme/a v1.1.0")
			must.Equal(t, registry.Requests("all"), before)

			lacking := harness.WorkDir(t, harness.LockConfig("a", "2.0.0"))
			end := harness.Exec(t, lacking, append(direct, "HOME="+t.TempDir()), program, "init", "-no-color", "-mirror="+k.mirror)
			must.Contain(t, harness.OneLine(end.Said()), "no available releases match")
			must.Equal(t, registry.Requests("all"), before)

			block := files{"dir": "filesystem_mirror {\n path = " + fmt.Sprintf("%q", k.mirror), "https": "network_mirror {\n url = " + fmt.Sprintf("%q", k.mirror)}[name]
			if block == "" {
				return // Terraform reads no such place
			}
			theirs, mirrored := harness.WorkDir(t, config), harness.Trust(t, ca, "provider_installation {\n "+block+"\n }\n}\n")
			harness.Run(t, theirs, mirrored, peer, "init", "-no-color")
			must.Equal(t, harness.ReadLock(t, dir), harness.ReadLock(t, theirs))
			t.Run("tofu", func(t *testing.T) {
				tofu := harness.LookTofu(t)
				must.Write(t, filepath.Join(dir, "main.tf"), strings.ReplaceAll(config, `"acme/`, `"registry.terraform.io/acme/`))
				harness.Run(t, dir, mirrored, tofu, "init", "-no-color")
				must.Equal(t, harness.ReadLock(t, dir), harness.ReadLock(t, theirs))
			})
		})
	}
}

// TestCredentials_AreLookedForWhereABucketIsNamed has the services that know credentials of
// machines, and Docker's helper, tell whether they were asked.
func TestCredentials_AreLookedForWhereABucketIsNamed(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	plain := providertest.ServerOptions{Plain: true}
	metadata, store := harness.Start(t, providertest.NewServer, plain), harness.Start(t, providertest.NewServer, plain)
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	home, bin := t.TempDir(), t.TempDir()
	helped := filepath.Join(home, "helped")
	must.Write(t, filepath.Join(home, ".docker/config.json"), `{"credsStore": "spy"}`)
	must.Write(t, filepath.Join(bin, "docker-credential-spy"), fmt.Sprintf("#!/bin/sh\necho asked >>%s\nexit 1\n", helped))
	must.Succeed(t, os.Chmod(filepath.Join(bin, "docker-credential-spy"), 0o755))
	env := append(harness.Redirect(t, registry, "registry.terraform.io"), "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"AWS_EC2_METADATA_SERVICE_ENDPOINT="+metadata.BaseURL(), "GCE_METADATA_HOST="+strings.TrimPrefix(metadata.BaseURL(), "http://"))
	dir := harness.WorkDir(t, harness.LockConfig("a", "1.1.0"))
	asked := func() (times int) {
		text, _ := os.ReadFile(helped)
		return metadata.Requests("other") + strings.Count(string(text), "asked")
	}
	for _, args := range [][]string{{"version"}, {"init"}, {"init", "-upgrade"}, {"providers", "mirror", "mirror"}, {"init", "-mirror=mirror", "-upgrade"}, {"cache", "push", "shared"}, {"cache", "pull", "shared"}} {
		harness.Run(t, dir, env, append([]string{program}, args...)...)
		if n := asked(); n != 0 {
			t.Fatalf("%q has asked for credentials %d times", args, n)
		}
	}
	for _, url := range []string{"s3://bucket/x?region=eu-west-1&endpoint=" + store.BaseURL(), "gs://bucket/x", "oci://" + ocitest.Start(t, ca, true).Host + "/x"} {
		before := asked()
		if end := harness.Exec(t, dir, env, program, "cache", "pull", "-dir="+t.TempDir(), url); asked() == before { // there are none
			t.Errorf("%s: credentials were asked for %d times, so that this test shows nothing\n%s", url, asked()-before, end)
		}
	}
}
