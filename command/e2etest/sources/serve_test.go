package sources

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestServe_TerraformInstallsThroughIt installs with the real terraform, and tfdeps, through "tfdeps
// serve" by https and with a token: while the registry is up, and while it is down, from the server's
// mirror and from its registry. The lock files are those of a direct installation.
func TestServe_TerraformInstallsThroughIt(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "null", Version: "1.2.0",
		Location: registry.AddArchive("net.tar.gz", providertest.TarGz(files{"main.tf": "locals {}\n"}))})
	direct := harness.Redirect(t, registry, "registry.terraform.io", "registry.opentofu.org")
	config := harness.LockConfig("a", "1.1.0", "e", ">= 1.0.0")

	url, output := startServe(t, ca, direct)
	mirrored := harness.Trust(t, ca, fmt.Sprintf("provider_installation {\n network_mirror { url = %q }\n}\ncredentials %q { token = \"s3cret\" }\n",
		url, strings.Split(url, "/")[2]))
	dir := harness.WorkDir(t, config)
	harness.Run(t, dir, append(direct, "HOME="+t.TempDir()), peer, "init", "-no-color")
	want, before := harness.ReadLock(t, dir), registry.Requests("archive")
	install := func(programs ...string) {
		for _, program := range programs {
			dir := harness.WorkDir(t, config)
			must.Write(t, filepath.Join(dir, ".terraform.lock.hcl"), want)
			harness.Run(t, dir, append(mirrored, "HOME="+t.TempDir(), "TFDEPS_CACHE_DIR="+t.TempDir()), program, "init", "-no-color")
			must.Equal(t, harness.ReadLock(t, dir), want, program)
		}
	}
	install(peer, peer)
	harness.TakeDown(registry)
	install(peer, harness.Tfdeps(t))
	// As a registry it has lock files made that are those of a direct installation, and names modules.
	base := url + "registry.terraform.io/"
	asRegistry := harness.Trust(t, ca, fmt.Sprintf("host \"registry.terraform.io\" {\n services = {\n \"providers.v1\" = %q\n \"modules.v1\" = %[1]q\n }\n}\n"+
		"credentials \"registry.terraform.io\" { token = \"s3cret\" }\n", base))
	for _, program := range []string{peer, harness.Tfdeps(t)} {
		dir := harness.WorkDir(t, config+"module \"net\" {\n source = \"acme/net/null\"\n}\n")
		harness.Run(t, dir, append(asRegistry, "HOME="+t.TempDir(), "TFDEPS_CACHE_DIR="+t.TempDir()), program, "init", "-no-color")
		must.Equal(t, harness.ReadLock(t, dir), want, program)
		must.Contain(t, harness.ReadText(t, filepath.Join(dir, ".terraform/modules/modules.json")), `"Version":"1.2.0"`, program)
	}
	must.Equal(t, registry.Requests("archive")-before, 2)
	log := output()
	must.NotContain(t, log, "s3cret")
	must.NotContain(t, log, "signature")
	must.Contain(t, log, "path=/mirror/registry.terraform.io/acme/a/index.json status=200")
}

// TestServe_RunsACommandThatInstallsThroughIt runs the real terraform, and the real tofu, as the
// command of "tfdeps serve", twice with one download. The lock file is that of a direct installation,
// and the exit code is the command's.
func TestServe_RunsACommandThatInstallsThroughIt(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(testing.TB) string{"terraform": harness.LookTerraform, "tofu": harness.LookTofu} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runsCommand(t, look(t))
		})
	}
}

func runsCommand(t *testing.T, peer string) {
	t.Helper()
	registry := harness.NewLockRegistry(t, harness.NewCA(t))
	direct := append(harness.Redirect(t, registry, "registry.terraform.io", "registry.opentofu.org"), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	directory := func() string { return harness.WorkDir(t, harness.LockConfig("a", "1.1.0")) }
	dir, store := directory(), t.TempDir()
	harness.Run(t, dir, direct, peer, "init", "-no-color")
	want, before := harness.ReadLock(t, dir), registry.Requests("archive")
	for _, option := range []string{"-exclude=x/y", "-https"} {
		dir := directory()
		output := harness.Run(t, dir, direct, harness.Tfdeps(t), "serve", option, store, "--", peer, "init", "-no-color")
		must.Equal(t, harness.ReadLock(t, dir), want, option)
		must.NotContain(t, output, "Serving", option)
	}
	must.Equal(t, registry.Requests("archive")-before, 1)
	if end := harness.Exec(t, "", direct, harness.Tfdeps(t), "serve", store, "--", peer, "no-such-command"); end.Code != 127 && end.Code != 1 {
		t.Errorf("the exit code isn't the command's: %s", end)
	}
	must.Len(t, must.Get(os.ReadDir(direct[len(direct)-1][len("TMPDIR="):]))(t), 0)
}

// TestServe_ExplainsAsTheRegistryDoes: the errors of terraform, tofu and tfdeps about a provider without a
// package for the platform, and about one with an old protocol, are the same through the server
// as directly.
func TestServe_ExplainsAsTheRegistryDoes(t *testing.T) {
	t.Parallel()
	registry := harness.NewLockRegistry(t, harness.NewCA(t))
	old := harness.LockPackage(t, "old", "1.0.0", getproviders.CurrentPlatform().String())
	old.Protocols = []string{"4.0"}
	registry.Add(old)
	old.Version, old.Protocols = "2.0.0", []string{"5.0"}
	registry.Add(old)
	registry.Add(harness.LockPackage(t, "elsewhere", "1.0.0", "plan9_amd64"))
	direct := append(harness.Redirect(t, registry, "registry.terraform.io", "registry.opentofu.org"), "HOME="+t.TempDir())
	store := t.TempDir()
	for program, look := range harness.Clients {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			path := look(t)
			for _, provider := range []string{"old", "elsewhere"} {
				dir := harness.WorkDir(t, harness.LockConfig(provider, "1.0.0"))
				says := func(line ...string) string {
					end := harness.Exec(t, dir, direct, line...)
					must.Equal(t, end.Code != 0, true, provider, line)
					return end.Said()
				}
				want, got := says(path, "init", "-no-color"), says(harness.Tfdeps(t), "serve", store, "--", path, "init", "-no-color")
				if _, got, _ = strings.Cut(got, "Initializing"); !strings.HasSuffix(want, got) || got == "" { // without the warning that hosts are others than usual
					t.Errorf("through the server:\n%s\ndirectly:\n%s", got, want)
				}
			}
		})
	}
}

// TestServe_HasTokensOfItsOwn: registries get the token of the server's CLI configuration, and
// never that of a client; hosts of archives get none.
func TestServe_HasTokensOfItsOwn(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	registry.RequireToken("upstream", "versions", "package", "module/versions")
	registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "null", Version: "1.2.0", Location: "https://example.com/net.tgz"})
	url, end := startServe(t, ca, harness.Trust(t, ca, fmt.Sprintf("host \"registry.terraform.io\" {\n services = {\n \"providers.v1\" = %q\n \"modules.v1\" = %q\n }\n}\n"+
		"credentials \"registry.terraform.io\" { token = \"upstream\" }\n", registry.ServiceURL(), registry.ModulesURL())))
	for _, path := range []string{"acme/a/index.json", "acme/a/1.1.0.json", "acme/a/versions", "acme/a/1.1.0/download/linux/amd64", "acme/net/null/versions",
		"acme/a/terraform-provider-a_1.1.0_linux_amd64.zip"} {
		status, _ := askServer(t, registry, url+"registry.terraform.io/"+path)
		must.Equal(t, status, http.StatusOK, path)
	}
	asked := map[string]string{}
	for _, req := range registry.Log() {
		asked[req.Kind] = req.Header.Get("Authorization")
		must.Equal(t, asked[req.Kind], map[bool]string{true: "Bearer upstream"}[req.Kind == "versions" || req.Kind == "package" || req.Kind == "module/versions"], req.Path)
	}
	must.Equal(t, len(asked) < 6, false, asked)
	log := end()
	must.NotContain(t, log, "upstream\"")
	must.NotContain(t, log, "Bearer")
}

// askServer sends a request with the token s3cret, by a client that trusts what a registry's does.
func askServer(t *testing.T, registry *providertest.Registry, url string) (status int, body string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	req.Header.Set("Authorization", "Bearer s3cret")
	resp := must.Get(registry.Client().Do(req))(t)
	defer resp.Body.Close()
	return resp.StatusCode, string(must.Get(io.ReadAll(resp.Body))(t))
}

// startServe starts "tfdeps serve" with the token s3cret, and returns the URL of its mirror, and
// what ends it and returns its log.
func startServe(t *testing.T, ca *providertest.CA, env []string) (url string, end func() string) {
	t.Helper()
	dir := t.TempDir()
	cert, key, err := ca.ServerPEM()
	must.Succeed(t, err)
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": key, "tokens": []byte("# of the tests\ns3cret\n"), "log": nil} {
		must.Write(t, filepath.Join(dir, name), content)
	}
	cmd := exec.CommandContext(t.Context(), harness.Tfdeps(t), "serve", "-listen=localhost:0", "-tls-cert=cert.pem", "-tls-key=key.pem", "-tokens=tokens", "bucket")
	cmd.Dir, cmd.Env = dir, env
	log := must.Get(os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY, 0))(t)
	defer log.Close()
	cmd.Stderr = log
	url, err = harness.Serve(cmd)
	must.Succeed(t, err, harness.ReadText(t, log.Name()))
	url = strings.Replace(url, "127.0.0.1", "localhost", 1)
	ended := false
	end = func() string {
		if !ended {
			ended = true
			must.Succeed(t, harness.End(cmd))
		}
		return harness.ReadText(t, log.Name())
	}
	t.Cleanup(func() { end() })
	return url, end
}

// TestServe_PolicyChoosesForItsClients installs with terraform, tofu and tfdeps through a server whose policy forbids the newest
// version: they get the newest allowed one. If the configuration or the lock file needs the forbidden one, they
// report that it doesn't exist.
func TestServe_PolicyChoosesForItsClients(t *testing.T) {
	t.Parallel()
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	rules := filepath.Join(t.TempDir(), "rules.hcl")
	must.Write(t, rules, "versions \"registry.terraform.io/acme/a\" {\n allow = \"!= 2.0.0\"\n}\nquarantine \"registry.opentofu.org/acme/a\" {\n versions = [\"2.0.0\"]\n reason = \"it loses state\"\n}\n"+
		"providers = [\"registry.terraform.io/acme/a\", \"registry.opentofu.org/acme/a\"]\n")
	url, output := startServe(t, ca, append(harness.Redirect(t, registry, "registry.terraform.io", "registry.opentofu.org"), "TFDEPS_POLICY="+rules))
	credentials := fmt.Sprintf("credentials %q { token = \"s3cret\" }\n", strings.Split(url, "/")[2])
	asMirror := harness.Trust(t, ca, fmt.Sprintf("provider_installation {\n network_mirror { url = %q }\n}\n", url)+credentials)
	asRegistry := ""
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		asRegistry += fmt.Sprintf("host %q {\n services = {\n \"providers.v1\" = \"%s%[1]s/\"\n }\n}\ncredentials %[1]q { token = \"s3cret\" }\n", host, url)
	}
	for name, says := range map[string]string{
		"acme/b/terraform-provider-b_1.0.0_linux_amd64.zip": "the provider matches none of the allowed patterns (rule providers, ",
		"acme/a/terraform-provider-a_2.0.0_linux_amd64.zip": `only versions \"!= 2.0.0\" are allowed (rule versions, `,
	} {
		status, body := askServer(t, registry, url+"registry.terraform.io/"+name)
		must.Equal(t, status, http.StatusForbidden, body)
		must.Contain(t, body, says, name)
	}
	must.Equal(t, registry.Requests("archive"), 0)
	t.Run("clients", func(t *testing.T) {
		for program, look := range harness.Clients {
			for protocol, env := range map[string][]string{"mirror": asMirror, "registry": harness.Trust(t, ca, asRegistry)} {
				t.Run(program+" "+protocol, func(t *testing.T) {
					t.Parallel()
					peer := look(t)
					env := slices.Concat(env, []string{"HOME=" + t.TempDir(), "TFDEPS_CACHE_DIR=" + t.TempDir()})
					dir := harness.WorkDir(t, harness.LockConfig("a", ">= 1.0.0"))
					harness.Run(t, dir, env, peer, "init", "-no-color")
					lock := harness.ReadLock(t, dir)
					must.Contain(t, lock, `version     = "1.1.0"`)
					dir = harness.WorkDir(t, harness.LockConfig("a", "2.0.0"))
					for _, locked := range []bool{false, true} {
						if locked {
							must.Write(t, filepath.Join(dir, ".terraform.lock.hcl"), strings.NewReplacer("1.1.0", "2.0.0", ">= 1.0.0", "2.0.0").Replace(lock))
						}
						says := map[bool]string{false: "no available releases match the given constraints", true: "previously-selected version 2.0.0 is no longer available"}[locked]
						if program == "tfdeps" {
							says = map[bool]string{false: says, true: `refused by policy: only versions \"!= 2.0.0\" are allowed`}[locked]
						}
						harness.Refuses(t, says, dir, env, peer, "init", "-no-color")
					}
				})
			}
		}
	})
	must.Contain(t, output(), `left_out="2.0.0: only versions \"!= 2.0.0\" are allowed (rule versions`)
}

// TestServe_DamagedArchives installs with terraform, tofu and tfdeps from a store with a damaged archive: the installed package is right, at
// the first or at the second attempt, after one more download.
func TestServe_DamagedArchives(t *testing.T) {
	t.Parallel()
	for program, look := range harness.Clients {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			peer, store := look(t), t.TempDir()
			registry := harness.NewLockRegistry(t, harness.NewCA(t))
			env := append(harness.Redirect(t, registry, "registry.terraform.io", "registry.opentofu.org"), "HOME="+t.TempDir(), "TFDEPS_CACHE_DIR=off")
			install := func() (harness.Ended, string) {
				dir := harness.WorkDir(t, harness.LockConfig("a", "1.1.0"))
				end := harness.Exec(t, dir, env, harness.Tfdeps(t), "serve", store, "--", peer, "init", "-no-color")
				if end.Code != 0 {
					return end, ""
				}
				return end, harness.ReadLock(t, dir)
			}
			end, want := install()
			must.Equal(t, end.Code, 0, end)
			file := func() string { // whose name has the time of the download
				files := must.Get(filepath.Glob(filepath.Join(store, "providers", "*", "acme", "a", "1.1.0", "archives", "*.zip")))(t)
				must.Len(t, files, 1)
				return files[0]
			}
			whole := harness.ReadText(t, file())
			must.Write(t, file(), whole[:len(whole)/2]+"?"+whole[len(whole)/2+1:])
			var got string
			if end, got = install(); end.Code != 0 {
				end, got = install()
			}
			must.Equal(t, end.Code, 0, end)
			must.Equal(t, got, want)
			must.Equal(t, registry.Requests("archive"), 2)
			must.Equal(t, harness.ReadText(t, file()), whole)
		})
	}
}
