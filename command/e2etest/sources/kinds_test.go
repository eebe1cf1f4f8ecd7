package sources

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci/ocitest"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// kind is a kind of remote place for packages.
type kind struct {
	publish string   // where a mirror is written to
	mirror  string   // the URL that it is read from
	seen    string   // the beginning of its URLs in output
	env     []string // which programs need for it
}

// kinds start the services. All of them trust ca.
var kinds = map[string]func(t *testing.T, ca *providertest.CA) kind{
	"s3": func(t *testing.T, _ *providertest.CA) kind {
		server := storagetest.StartVersity(t, "bucket")
		query := "?region=" + storagetest.VersityRegion + "&endpoint=" + server.Endpoint
		return sameKind("s3://bucket/mirror"+query, "s3://bucket/",
			"AWS_ACCESS_KEY_ID="+storagetest.VersityID, "AWS_SECRET_ACCESS_KEY="+storagetest.VersitySecret)
	},
	"gs": func(t *testing.T, _ *providertest.CA) kind {
		return sameKind("gs://bucket/mirror", "gs://bucket/", storagetest.StartGCS(t).Variable())
	},
	"oci": func(t *testing.T, ca *providertest.CA) kind {
		at := "oci://" + ocitest.Start(t, ca, false).Host + "/"
		return sameKind(at+"providers/${namespace}/${type}", at)
	},
	"https": func(t *testing.T, ca *providertest.CA) kind {
		dir := t.TempDir()
		server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.FileServer(http.Dir(dir))})
		url := server.BaseURL() + "/"
		return kind{publish: filepath.Join(dir, "mirror"), mirror: url + "mirror/", seen: url}
	},
}

func sameKind(mirror, seen string, env ...string) kind {
	return kind{publish: mirror, mirror: mirror, seen: seen, env: env}
}

// TestKinds_ServeAllCommands publishes to each kind of place, and then runs every command from
// there while the registry is down: providers lock, urls, vendor and init. The real terraform accepts the directory.
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
			run(first, "providers", "mirror", "-platform="+expandNames("$PLATFORM"), "-platform=darwin_arm64", k.publish)
			lock, before := harness.ReadLock(t, first), registry.Requests("all")
			harness.TakeDown(registry)

			env = machine()
			locked := dir(lock)
			run(locked, "providers", "lock", "-mirror="+k.mirror, "-platform="+expandNames("$PLATFORM"), "-platform=darwin_arm64")
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
			installed := dir(lock)
			run(installed, "init", "-lockfile=readonly", "-mirror="+k.mirror)
			must.Equal(t, registry.Requests("all")-before, 0)
			for _, what := range []string{"discovery", "versions"} { // which terraform asks for
				registry.Break(what, providertest.Fault{})
			}
			harness.Run(t, installed, env, harness.LookTerraform(t), "init", "-no-color")
			must.Equal(t, harness.ReadLock(t, installed), lock)
		})
	}
}

// TestMirror_IsTheOnlySource fills each kind of place with a tree of the real terraform providers mirror. With -mirror only
// its versions are used, without a request to the registry, which has newer ones. The lock file is that of the real
// terraform if that can read the place.
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

			block := map[string]string{"dir": "filesystem_mirror {\n path = " + fmt.Sprintf("%q", k.mirror), "https": "network_mirror {\n url = " + fmt.Sprintf("%q", k.mirror)}[name]
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

// TestCredentials_AreLookedForWhereABucketIsNamed checks when the metadata services of clouds
// and Docker's credential helper are asked.
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
	must.Succeed(t, peertest.WriteProgram(filepath.Join(bin, "docker-credential-spy"), fmt.Appendf(nil, "#!/bin/sh\necho asked >>%s\nexit 1\n", helped)))
	env := append(harness.Redirect(t, registry, "registry.terraform.io"), "HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"AWS_EC2_METADATA_SERVICE_ENDPOINT="+metadata.BaseURL(), "GCE_METADATA_HOST="+strings.TrimPrefix(metadata.BaseURL(), "http://"))
	dir := harness.WorkDir(t, harness.LockConfig("a", "1.1.0"))
	asked := func() (times int) {
		text, _ := os.ReadFile(helped)
		return metadata.Requests("other") + strings.Count(string(text), "asked")
	}
	for _, args := range [][]string{{"version"}, {"init"}, {"init", "-upgrade"}, {"providers", "mirror", "mirror"}, {"init", "-mirror=mirror", "-upgrade"}} {
		harness.Run(t, dir, env, append([]string{program}, args...)...)
		must.Equal(t, asked(), 0, args)
	}
	for _, url := range []string{"s3://bucket/x?region=eu-west-1&endpoint=" + store.BaseURL(), "gs://bucket/x", "oci://" + ocitest.Start(t, ca, true).Host + "/x/${namespace}/${type}"} {
		before := asked()
		end := harness.Exec(t, dir, env, program, "init", "-upgrade", "-mirror="+url) // there are no credentials
		must.Equal(t, asked() > before, true, "credentials are asked for, or this test shows nothing", url, end)
	}
}

// tap forwards connections to a service, counts them and the service's bytes, and breaks one of them off.
type tap struct {
	address string // 127.0.0.1:PORT
	target  string

	accepted, sent atomic.Int64 // the latter by the service
	cutAfter       atomic.Int64 // break a connection after so many bytes; 0 means never, or that it has happened
}

func newTap(t *testing.T, target string) *tap {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &tap{address: listener.Addr().String(), target: target}
	var running sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.accepted.Add(1)
			running.Go(func() { p.pass(client) })
		}
	})
	return p
}

func (p *tap) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, client)
		server.Close()
	})
	defer up.Wait()
	defer client.Close()
	defer server.Close()
	buffer := make([]byte, 16<<10)
	for received := int64(0); ; {
		n, err := server.Read(buffer)
		received += int64(n)
		p.sent.Add(int64(n))
		if after := p.cutAfter.Load(); after > 0 && received >= after && p.cutAfter.CompareAndSwap(after, 0) {
			return
		}
		if _, failed := client.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

var loopback = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)

// tapped is a kind that is read through a tap.
func tapped(t *testing.T, k kind) (kind, *tap) {
	t.Helper()
	target := loopback.FindString(strings.Join(append([]string{k.mirror}, k.env...), " "))
	p := newTap(t, target)
	through := func(text string) string { return strings.ReplaceAll(text, target, p.address) }
	read := kind{mirror: through(k.mirror)}
	for _, each := range k.env {
		read.env = append(read.env, through(each))
	}
	return read, p
}

// throughTap publishes packages to a kind of place, and gets them through a tap by init. It calls begin before init, and end after it
// with the directory and the environment.
func throughTap(t *testing.T, start func(*testing.T, *providertest.CA) kind, packages []providertest.PackageSpec, begin func(*tap), end func(p *tap, dir string, env []string)) {
	t.Helper()
	program, ca := harness.Tfdeps(t), harness.NewCA(t)
	k := start(t, ca)
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	var needs []string
	for _, spec := range packages {
		spec.Namespace, spec.Version = "acme", "1.0.0"
		registry.Add(spec)
		needs = append(needs, "acme/"+spec.Type)
	}
	direct, config := harness.Redirect(t, registry, "registry.terraform.io"), requiring(strings.Join(needs, "\n"))
	machine := func(env []string) []string { // 60 seconds are for one on which all tests run at once
		return slices.Concat(direct, []string{"HOME=" + t.TempDir(), "TF_REGISTRY_CLIENT_TIMEOUT=60"}, env)
	}
	dir, first := harness.WorkDir(t, config), machine(k.env)
	for _, args := range [][]string{{"init"}, {"providers", "mirror", "-platform=" + expandNames("$PLATFORM"), k.publish}} {
		harness.Run(t, dir, first, append([]string{program}, args...)...)
	}
	if filepath.IsAbs(k.publish) { // resuming needs an mtime that is some seconds old
		age(t, filepath.Dir(k.publish))
	}
	read, p := tapped(t, k)
	before := registry.Requests("archive")
	begin(p)
	again, env := harness.WorkDir(t, config), machine(read.env)
	must.Write(t, filepath.Join(again, ".terraform.lock.hcl"), harness.ReadLock(t, dir))
	harness.Run(t, again, env, program, "init", "-mirror="+read.mirror, "-mirror-fallback=exclusive")
	end(p, again, env)
	must.Equal(t, registry.Requests("archive"), before)
}

// TestKinds_ResumeWhatIsCut breaks an archive of each kind of place off in its middle, for init: the
// same run gets the rest, and nothing twice.
func TestKinds_ResumeWhatIsCut(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	content := make([]byte, size)
	_, _ = rand.Read(content)
	archive := providertest.Zip(files{"terraform-provider-widget_v1.0.0": string(content)})
	for name, start := range kinds {
		if testing.Short() && (name == "gs" || name == "s3") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			throughTap(t, start, []providertest.PackageSpec{{Type: "widget", Archive: archive}}, func(p *tap) { p.cutAfter.Store(size / 2) }, func(p *tap, dir string, env []string) {
				if sent, cut := p.sent.Swap(0), p.cutAfter.Load() == 0; !cut || sent < size || sent > size+size/8 {
					t.Errorf("%d bytes were sent for an archive of %d; broken off: %t", sent, len(archive), cut)
				}
				harness.Run(t, dir, env, harness.Tfdeps(t), "init", "-offline", "-lockfile=readonly")
			})
		})
	}
}

// age sets the mtime of all files in a directory to an hour ago.
func age(t *testing.T, dir string) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		then := time.Now().Add(-time.Hour)
		return errors.Join(err, os.Chtimes(path, then, then))
	}))
}

// TestKinds_UseConnectionsAgain installs fifty providers from a kind of place, each with two or more
// requests. Each archive has its own connection during its download, which the next archive reuses; documents share
// others. 32 documents and 16 archives are requested at once.
func TestKinds_UseConnectionsAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const providers, most = 50, 72
	var packages []providertest.PackageSpec
	for i := range providers {
		packages = append(packages, providertest.PackageSpec{Type: fmt.Sprintf("p%d", i)})
	}
	for name, start := range kinds {
		if name != "https" && !peertest.All() {
			continue // the others take longer
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			throughTap(t, start, packages, func(*tap) {}, func(p *tap, _ string, _ []string) {
				if accepted := p.accepted.Swap(0); accepted > most {
					t.Errorf("init opens %d connections, want %d at most", accepted, most)
				}
			})
		})
	}
}

// TestKinds_AMissingBucketIsAnError: a bucket that doesn't exist is a mistake of the command line, and no mirror that lacks a package, so
// that no command passes over it.
func TestKinds_AMissingBucketIsAnError(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	for _, name := range []string{"s3", "gs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := harness.NewCA(t)
			k, registry := kinds[name](t, ca), harness.NewLockRegistry(t, ca)
			env := slices.Concat(harness.Redirect(t, registry, "registry.terraform.io"), k.env, []string{"HOME=" + t.TempDir()})
			missing := strings.Replace(k.mirror, "://bucket/", "://missing/", 1)
			locked := harness.WorkDir(t, harness.LockConfig("a", "1.1.0"))
			harness.Run(t, locked, env, program, "init")
			lock := harness.ReadLock(t, locked)
			for _, args := range [][]string{
				{"init", "-mirror=" + missing},
				{"init", "-mirror=" + missing, "-mirror-fallback=stop"},
				{"providers", "lock", "-mirror=" + missing},
				{"providers", "urls", "-mirror=" + missing},
				{"providers", "mirror", missing},
				{"providers", "mirror", "-locked=.", missing},
				{"vendor", "-mirror=" + missing},
				{"cache", "add", "-mirror=" + missing, "acme/a"},
			} {
				dir := harness.WorkDir(t, harness.LockConfig("a", "1.1.0"))
				must.Write(t, filepath.Join(dir, ".terraform.lock.hcl"), lock)
				end := harness.Exec(t, dir, append(env, "HOME="+t.TempDir()), append([]string{program}, args...)...)
				must.Equal(t, end.Code, 1, args, end.Said())
				must.Contain(t, harness.OneLine(end.Said()), "bucket does not exist", args)
			}
		})
	}
}

// TestMirror_CIFillsIt has jobs of CI that share nothing but a mirror: they install from it, and then add to it what it lacks.
// The first job gets all from the registry, the second nothing, and reads no archive to find out that nothing is missing.
func TestMirror_CIFillsIt(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	content := make([]byte, size)
	_, _ = rand.Read(content)
	archive := providertest.Zip(files{"terraform-provider-widget_v1.0.0": string(content)})
	for _, name := range []string{"s3", "gs", "oci"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, ca := harness.Tfdeps(t), harness.NewCA(t)
			k, sent := tapped(t, kinds[name](t, ca))
			registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Archive: archive})
			direct := append(harness.Redirect(t, registry, "registry.terraform.io"), "TF_REGISTRY_CLIENT_TIMEOUT=60")
			config := requiring("acme/widget")
			first := harness.WorkDir(t, config)
			harness.Run(t, first, append(direct, "HOME="+t.TempDir()), program, "init")
			lock := harness.ReadLock(t, first)
			job := func() (archives int, read int64) {
				t.Helper()
				env := slices.Concat(direct, k.env, []string{"HOME=" + t.TempDir(), "TFDEPS_MIRROR=" + k.mirror, "TFDEPS_MIRROR_FALLBACK=next"})
				dir := harness.WorkDir(t, config)
				must.Write(t, filepath.Join(dir, ".terraform.lock.hcl"), lock)
				before := registry.Requests("archive")
				harness.Run(t, dir, env, program, "init", "-lockfile=readonly")
				sent.sent.Store(0)
				harness.Run(t, dir, env, program, "providers", "mirror", "-locked=.", k.mirror)
				return registry.Requests("archive") - before, sent.sent.Load()
			}

			archives, _ := job()
			must.Equal(t, archives, 2)

			archives, read := job()
			must.Equal(t, archives, 0)
			must.Equal(t, read < size/4, true, read)
		})
	}
}
