package cliconfig

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// peer is a run of Terraform with a CLI configuration, in a working directory
// that requires one provider.
type peer struct {
	rc, provider string
	env          []string
}

func (p peer) run(t *testing.T, args ...string) string {
	t.Helper()
	dir := must.WriteAll(t, t.TempDir(), files{
		"rc": p.rc, "main.tf": "terraform {\n  required_providers {\n    p = {\n      source = \"" + p.provider + "\"\n    }\n  }\n}\n",
	})
	env := append([]string{"HOME=/home/u", "SRC=/src", "TF_CLI_CONFIG_FILE=" + filepath.Join(dir, "rc")}, p.env...)
	out, err := peertest.Command(t.Context(), peertest.LookProgram(t, "terraform"), dir, env, args...).CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return string(out)
}

var headline = regexp.MustCompile(`(?m)^│ Error: (.*)$`)

// summaries returns the sorted summaries of Terraform's problems, as tfdeps words them. For some
// problems Terraform has only one sentence, without details.
func summaries(output string) []string {
	all := []string{}
	for _, m := range headline.FindAllStringSubmatch(output, -1) {
		if strings.HasPrefix(m[1], "Error parsing") || strings.Contains(m[1], "block has an invalid hostname") {
			m[1] = "Invalid CLI configuration"
		}
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestRead_ProblemsAreThoseOfTerraform has files for which both programs report the same problems.
func TestRead_ProblemsAreThoseOfTerraform(t *testing.T) {
	peertest.LookProgram(t, "terraform")
	cases := []string{
		``,                                // nothing
		`disable_checkpoint = "yes"`,      // a flag that is text
		"zork = 5\nblah \"x\" { y = [] }", // unknown keys
		`{"zork": 5, "blah": {"x": []}}`,  // unknown JSON keys
		`host "a.com" { services = { "providers.v1" = "/x" } }`,                                      // host
		`credentials "a.com" { token = "x" user = 5 }`,                                               // credentials
		`credentials "a.com" {}`,                                                                     // credentials, no token
		`credentials_helper "x" { args = ["a", 5] }`,                                                 // helper
		"credentials_helper \"x\" {}\ncredentials_helper \"x\" {}",                                   // helper twice
		`plugin_cache_dir = true`,                                                                    // cache bool
		`plugin_cache_dir = ["x"]`,                                                                   // cache list
		`{"plugin_cache_dir": null}`,                                                                 // cache null
		`plugin_cache_may_break_dependency_lock_file = "true"`,                                       // lock file string
		`plugin_cache_may_break_dependency_lock_file = true`,                                         // lock file
		`provider_installation { direct {} }`,                                                        // installation
		`provider_installation {}`,                                                                   // empty installation
		`PROVIDER_INSTALLATION { DIRECT { Include = ["a/b"] } }`,                                     // installation in any case
		`provider_installation { direct { foo = 5 } }`,                                               // method argument
		`{"provider_installation": {"direct": [{"exclude": ["a/b"]}]}}`,                              // JSON method
		`{"provider_installation": {"foo": [{}]}}`,                                                   // JSON unknown method
		`provider_installation { filesystem_mirror { path = 5 } }`,                                   // path number
		`provider_installation { network_mirror { url = "https://example.com/x/" } }`,                // URL
		`provider_installation { direct { include = [5] } }`,                                         // include number
		`provider_installation { direct { include = ["a/*", "*/*", "a.com/*/*", "*/*/*", "Ä/ö"] } }`, // wildcards
		`provider_installation { direct { exclude = ["a//b"] } }`,                                    // empty part
		`provider_installation { direct { exclude = ["a/b*"] } }`,                                    // half a wildcard
		`provider_installation { direct { exclude = ["-/b"] } }`,                                     // legacy namespace
		`provider_installation { dev_overrides { "a/b" = "$SRC/x" "c" = "y" } }`,                     // overrides
		`provider_installation { dev_overrides { "a/b" = "x" } dev_overrides { "a/b" = "y" } }`,      // overrides twice
		`{"provider_installation": {"dev_overrides": [{"a/b": "x"}], "direct": [{}]}}`,               // JSON overrides
		`{"provider_installation": {"direct": [{}], "dev_overrides": [{"a/b": "x"}]}}`,               // JSON overrides last
	}
	for src, want := range problemCases() {
		if len(src) < 1000 && !strings.HasPrefix(want, "ours ") { // Terraform takes minutes for the long ones
			cases = append(cases, src)
		}
	}
	for _, src := range cases {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			_, problems := parse(src)
			ours := []string{}
			for _, p := range problems {
				if p.Summary != "Unknown argument in the CLI configuration" { // difference 6
					ours = append(ours, p.Summary)
				}
			}
			slices.Sort(ours)
			out := peer{rc: src}.run(t, "version")
			must.EqualSlices(t, slices.Compact(ours), summaries(out), out)
		})
	}
}

// TestRead_WhereTerraformDiffers has files for which tfdeps reports other problems on purpose:
// Terraform reports the given number.
func TestRead_WhereTerraformDiffers(t *testing.T) {
	peertest.LookProgram(t, "terraform")
	for name, tc := range map[string]struct {
		src          string
		ours, theirs int
	}{
		"cache directory that doesn't exist": {`plugin_cache_dir = "/does/not/exist"`, 0, 1},
		"cache directory of a number":        {`plugin_cache_dir = 5`, 0, 1},
		"JSON object as method":              {`{"provider_installation": {"filesystem_mirror": {"path": "/x"}}}`, 0, 1},
		"token of a number":                  {`credentials "a.com" { token = 5 }`, 1, 0},
		"service of a number":                {`host "a.com" { services = { "providers.v1" = 5 } }`, 1, 0},
		"JSON that ends too early":           {`{"host": `, 1, 0},
		"more after JSON":                    {`{"host": {}} }`, 1, 0},
		"http on loopback":                   {`provider_installation { network_mirror { url = "http://localhost:8080/" } }`, 0, 1},
		"override of null":                   {`{"provider_installation": {"dev_overrides": [{"a/b": null}]}}`, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			_, problems := parse(tc.src)
			out := peer{rc: tc.src}.run(t, "version")
			must.Len(t, problems, tc.ours, out)
			must.Len(t, summaries(out), tc.theirs, out)
		})
	}
}

// TestRead_MethodsServeAsInTerraform compares which of two mirrors provides a package. The first
// one has version 1.0.0 of both providers, the second one 2.0.0.
func TestRead_MethodsServeAsInTerraform(t *testing.T) {
	peertest.LookProgram(t, "terraform")
	mirrors := t.TempDir()
	for _, pkg := range []string{"1/registry.terraform.io/acme/one/1.0.0", "2/registry.terraform.io/acme/one/2.0.0", "1/example.com/acme/two/1.0.0", "2/example.com/acme/two/2.0.0"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(mirrors, filepath.FromSlash(pkg), getproviders.CurrentPlatform().String()), 0o700))
	}
	for _, text := range []string{ // a provider, and the configuration
		`acme/one: provider_installation { M1 } M2 } }`,                                                                           // both
		`acme/one: provider_installation { M1 } }`,                                                                                // first only
		`acme/one: provider_installation { }`,                                                                                     // none
		`acme/one: provider_installation { M1 } M2 exclude = ["acme/one"] } }`,                                                    // excluded
		`acme/one: provider_installation { M1 } M2 exclude = ["acme/*"] } }`,                                                      // excluded by wildcard
		`acme/one: provider_installation { M1 } M2 exclude = ["acme/two"] } }`,                                                    // another excluded
		`example.com/acme/two: provider_installation { M1 } M2 exclude = ["acme/two"] } }`,                                        // another host's
		`example.com/acme/two: provider_installation { M1 } M2 exclude = ["Example.com/*/*"] } }`,                                 // host excluded
		`acme/one: provider_installation { M1 } M2 include = ["acme/one"] } }`,                                                    // included
		`example.com/acme/two: provider_installation { M1 } M2 include = ["acme/two", "*/*"] } }`,                                 // not included
		`example.com/acme/two: provider_installation { M1 } M2 include = ["*/*/*"] } }`,                                           // everything included
		`acme/one: provider_installation { M1 } M2 include = ["acme/*"] exclude = ["acme/one"] } }`,                               // included, excluded
		`acme/one: provider_installation { M1 } M2 include = [] } }`,                                                              // nothing included
		`acme/one: provider_installation { M1 } M2 include = ["x/y"] include = ["acme/one"] } }`,                                  // included twice
		`acme/one: provider_installation { M1 exclude = ["*/*/*"] } M2 include = ["x/y"] } }`,                                     // nobody serves
		`acme/one: {"provider_installation": {"filesystem_mirror": [{"path": "M/1"}, {"path": "M/2", "exclude": ["acme/one"]}]}}`, // JSON
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			provider, rc, _ := strings.Cut(strings.NewReplacer("M1", `filesystem_mirror { path = "M/1" `, "M2", `filesystem_mirror { path = "M/2" `).Replace(text), ": ")
			rc = strings.ReplaceAll(rc, "M/", filepath.ToSlash(mirrors)+"/")
			out := peer{rc: rc, provider: provider}.run(t, "init", "-no-color")
			theirs := ""
			if m := regexp.MustCompile(`- Installing \S+ v(\S+)\.\.\.`).FindStringSubmatch(out); m != nil {
				theirs = m[1]
			}
			must.Equal(t, newest(t, rc, provider), theirs, out)
		})
	}
}

// newest returns the newest version that the methods of a CLI configuration offer, or "" if they
// offer none.
func newest(t *testing.T, rc, source string) string {
	config, problems := parse(rc)
	provider, err := terraform.ParseProvider(source)
	must.Len(t, problems, 0)
	must.Succeed(t, err)
	var all getproviders.MultiSource
	for _, m := range config.Installation {
		all.Selectors = append(all.Selectors, getproviders.Selector{
			Source:  &getproviders.FilesystemMirrorSource{Dir: m.Location},
			Include: m.Include,
			Exclude: m.Exclude,
		})
	}
	available, err := all.Versions(t.Context(), provider)
	if len(available.Versions) == 0 {
		return ""
	}
	must.Succeed(t, err)
	return slices.MaxFunc(available.Versions, getproviders.Version.Compare).String()
}

func TestRead_DevOverridesAreThoseOfTerraform(t *testing.T) {
	peertest.LookProgram(t, "terraform")
	const rc = `
provider_installation {
  dev_overrides {
    "Acme/one"           = "$HOME/../x/"
    "example.com/a/b"    = "rel/./y/../z"
    "three"              = ""
  }
  dev_overrides { "acme/four" = "${SRC}/four" "acme/one" = "~/again" }
  filesystem_mirror { path = "/does/not/exist" }
}`
	config := mustParse(t, rc)
	var ours, theirs []string
	for p, dir := range config.DevOverrides {
		ours = append(ours, terraform.Short(p)+" in "+filepath.ToSlash(dir))
	}
	out := peer{rc: rc, provider: "acme/one"}.run(t, "init", "-no-color")
	for _, m := range regexp.MustCompile(`(?m)^ - (.* in .*)$`).FindAllStringSubmatch(out, -1) {
		theirs = append(theirs, filepath.ToSlash(m[1]))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	must.EqualSlices(t, ours, theirs, out)
}

// TestRead_TokensAreThoseOfTerraform compares the tokens sent to a registry on loopback, to which a
// host block redirects.
func TestRead_TokensAreThoseOfTerraform(t *testing.T) {
	peertest.LookProgram(t, "terraform")
	for _, text := range []string{ // a host, variables and blocks, with bars between them
		"my-host.example||", // none
		`my-host.example||credentials "My-Host.example" { token = "block" }`,                                                        // block
		`my-host.example||credentials "other.example" { token = "block" }`,                                                          // another host's
		`my-host.example||credentials "my-host.example" { }`,                                                                        // no token
		"my-host.example||credentials \"my-host.example\" { token = \"one\" }\ncredentials \"my-host.example\" { token = \"two\" }", // last block
		`my-host.example||credentials "my-host.example" { TOKEN = "block" }`,                                                        // token in capitals
		`my-host.example|TF_TOKEN_my__host_example=variable|credentials "my-host.example" { token = "block" }`,                      // variable before block
		"my-host.example|TF_TOKEN_my-host_example=variable|",                                                                        // literal dash
		"my-host.example|TF_TOKEN_my__host.example=variable|",                                                                       // literal dot
		"my-host.example|TF_TOKEN_MY__HOST_EXAMPLE=variable|",                                                                       // capitals
		"my-host.example|tf_token_my__host_example=variable|",                                                                       // prefix in small
		"my-host.example|TF_TOKEN_my___host_example=variable|",                                                                      // three underscores
		"my-host.example|TF_TOKEN_my__host_example=first TF_TOKEN_my-host_example=second|",                                          // the last variable
		"my-host.example:8443|TF_TOKEN_my-host_example:8443=port TF_TOKEN_my__host_example=none|",                                   // port
		`my-host.example:8443||credentials "my-host.example:8443" { token = "port" }`,                                               // port in block
		`my-host.example:8443||credentials "my-host.example" { token = "none" }`,                                                    // block without port
		"bücher.example|TF_TOKEN_bücher_example=variable|",                                                                          // Unicode
		"bücher.example|TF_TOKEN_xn--bcher-kva_example=variable|",                                                                   // punycode
		"bücher.example|TF_TOKEN_xn____bcher__kva_example=variable|",                                                                // punycode, underscores
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			words := strings.Split(text, "|")
			registry, host, env := record(t), words[0], strings.Fields(words[1])
			rc := words[2] + "\nhost \"" + host + "\" { services = { \"providers.v1\" = \"" + registry.BaseURL() + "/\" } }"
			out := peer{rc: rc, provider: host + "/a/b", env: env}.run(t, "init", "-no-color")
			must.Len(t, registry.Log(), 1, out)
			config, problems := parse(rc)
			name, err := hosts.ParseHostname(host)
			must.Len(t, problems, 0)
			must.Succeed(t, err)
			ours, err := hosts.FirstOf(hosts.EnvTokens(env), config.Tokens).Token(t.Context(), name)
			if ours != "" {
				ours = "Bearer " + ours
			}
			must.Succeed(t, err)
			must.Equal(t, ours, registry.Log()[0].Header.Get("Authorization"))
		})
	}
}

// record starts a server that answers 404.
func record(t *testing.T) *providertest.Server {
	t.Helper()
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true}))(t)
	t.Cleanup(server.Close)
	return server
}

// TestRead_HelperIsThatOfTerraform has two versions of a helper program, and compares the tokens
// sent to the registry.
func TestRead_HelperIsThatOfTerraform(t *testing.T) {
	peertest.LookProgram(t, "terraform")
	home := t.TempDir()
	dirs := User{GOOS: runtime.GOOS, HomeDir: home, Environ: []string{"APPDATA=" + home}}.helperDirs(getproviders.CurrentPlatform())
	for i, version := range []string{"_v1.9.0", "_v1.10.0"} {
		must.Succeed(t, os.MkdirAll(dirs[i], 0o700))
		script := "#!/bin/sh\n[ \"$3\" = none.example ] && echo '{}' || echo '{\"token\": \"'$1-$2-$3" + version + "'\"}'\n"
		must.Succeed(t, peertest.WriteProgram(filepath.Join(dirs[i], "terraform-credentials-x"+version), []byte(script)))
	}
	for name, want := range map[string]string{
		"a.example":      "Bearer arg-get-a.example_v1.10.0",
		"a.example:8443": "Bearer arg-get-a.example:8443_v1.10.0",
		"bücher.example": "Bearer arg-get-xn--bcher-kva.example_v1.10.0",
		"block.example":  "Bearer block",
		"empty.example":  "",
		"none.example":   "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			registry := record(t)
			rc := "credentials_helper \"x\" {\n  args = [\"arg\"]\n}\ncredentials \"block.example\" {\n  token = \"block\"\n}\ncredentials \"empty.example\" {}\n" +
				"host \"" + name + "\" {\n  services = {\n    \"providers.v1\" = \"" + registry.BaseURL() + "/\"\n  }\n}\n"
			out := peer{rc: rc, provider: name + "/a/b", env: []string{"HOME=" + home, "APPDATA=" + home}}.run(t, "init", "-no-color")
			must.Len(t, registry.Log(), 1, out)
			must.Equal(t, registry.Log()[0].Header.Get("Authorization"), want, out)
			config, problems := parse(rc)
			host := must.Get(hosts.ParseHostname(name))(t)
			must.Len(t, problems, 0)
			helper := hosts.NewHelperTokens(must.Get(findHelper(config.Helper.Name, dirs))(t), config.Helper.args, nil)
			must.Equal(t, must.Get(hosts.FirstOf(config.Tokens, helper).Token(t.Context(), host))(t), strings.TrimPrefix(want, "Bearer "))
		})
	}
}
