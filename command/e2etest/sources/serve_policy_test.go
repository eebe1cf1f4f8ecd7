package sources

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestServe_PolicyChoosesForItsClients has terraform, tofu and tfdeps install through a server whose policy forbids the newest
// version: they get the newest allowed one, and where the configuration or the lock file wants the other one, they
// say that there is no such version.
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
	for _, name := range []string{"acme/b/terraform-provider-b_1.0.0_linux_amd64.zip", "acme/a/terraform-provider-a_2.0.0_linux_amd64.zip"} {
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url+"registry.terraform.io/"+name, nil))(t)
		req.Header.Set("Authorization", "Bearer s3cret")
		resp := must.Get(registry.Client().Do(req))(t)
		body := string(must.Get(io.ReadAll(resp.Body))(t))
		resp.Body.Close()
		must.Equal(t, resp.StatusCode, http.StatusForbidden, body)
		if !strings.Contains(body, "the provider matches none of the allowed patterns (rule providers, ") && !strings.Contains(body, `only versions \"!= 2.0.0\" are allowed (rule versions, `) {
			t.Errorf("%s: %s", name, body)
		}
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
						end := harness.Exec(t, dir, env, peer, "init", "-no-color")
						said := strings.Join(strings.Fields(end.Said()), " ")
						says := map[bool]string{false: "no available releases match the given constraints", true: "previously-selected version 2.0.0 is no longer available"}[locked]
						if program == "tfdeps" {
							says = map[bool]string{false: says, true: `refused by policy: only versions \"!= 2.0.0\" are allowed`}[locked]
						}
						if end.Code != 1 || !strings.Contains(said, says) {
							t.Errorf("locked %t: %s", locked, end)
						}
					}
				})
			}
		}
	})
	must.Contain(t, output(), `left_out="2.0.0: only versions \"!= 2.0.0\" are allowed (rule versions`)
}

// TestServe_DamagedArchives has terraform, tofu and tfdeps install from a store in which an archive was damaged: what they install is whole, at
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
			_, want := install()
			file := func() string { // whose name has the time of the download
				files := must.Get(filepath.Glob(filepath.Join(store, "providers", "*", "acme", "a", "1.1.0", "archives", "*.zip")))(t)
				must.Len(t, files, 1)
				return files[0]
			}
			whole := harness.ReadText(t, file())
			must.Write(t, file(), whole[:len(whole)/2]+"?"+whole[len(whole)/2+1:])
			end, got := install()
			if end.Code != 0 {
				end, got = install()
			}
			must.Equal(t, end.Code, 0, end)
			must.Equal(t, got, want)
			must.Equal(t, registry.Requests("archive"), 2)
			must.Equal(t, harness.ReadText(t, file()), whole)
		})
	}
}
