package modules

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Terraform selects the same versions from the same locations. Each case is a module of its own,
// with a location in one of the possible forms.
func TestRegistry_TerraformTakesTheSameVersions(t *testing.T) {
	t.Parallel()
	var good, bad []int
	for i, c := range selectCases {
		if strings.HasPrefix(c.want, "none, ") || slices.Contains(lenient, c.constraint) {
			bad = append(bad, i)
		} else {
			good = append(good, i)
		}
	}
	registry := newRegistry(t)
	publishCases(registry)
	registries := newRegistries(registry)

	dir := t.TempDir()
	env := callCases(t, registry, dir, good)
	out, err := terraform(t, dir, env, "get", "-no-color")
	must.Succeed(t, err, out)
	manifest := must.Get(ReadManifest(nil, filepath.Join(dir, ".terraform/modules"), asTerraform))(t)
	for _, i := range good {
		c, theirs := selectCases[i], manifest[fmt.Sprintf("m%d", i)]
		choice, err := registries.Select(t.Context(), caseAddress(i), c.constraint)
		if err != nil || choice.Version != theirs.Version {
			t.Errorf("%q of %s: we choose %q, %v, they %q", c.constraint, c.listed, choice.Version, err, theirs.Version)
			continue
		}
		remote, err := registries.Locate(t.Context(), caseAddress(i), choice.Version, false)
		if want := ".terraform/modules/" + theirs.Key + "/" + remote.Subdir; err != nil || theirs.Dir != want {
			t.Errorf("%q of %s: their directory is %s, ours %s, %v", c.constraint, c.listed, theirs.Dir, want, err)
		}
		if u, err := url.Parse(remote.Package); err != nil || !wasAsked(registry, u.Path) {
			t.Errorf("%q of %s: they didn't fetch %s", c.constraint, c.listed, remote.Package)
		}
	}

	dir = t.TempDir()
	env = callCases(t, registry, dir, bad)
	refused := refusedFiles(t, dir, env)
	for _, i := range bad {
		if !refused[fmt.Sprintf("m%d.tf", i)] {
			t.Errorf("they do take a version for %q of %s", selectCases[i].constraint, selectCases[i].listed)
		}
	}
}

// caseAddress is the address of a case's module.
func caseAddress(i int) Registry {
	return Registry{Host: "example.com", Namespace: "acme", Name: fmt.Sprintf("m%d", i), System: "cloud", Subdir: "part"}
}

// publishCases fills a registry. Modules are in "part" and in "sub/part", so that every location
// contains one.
func publishCases(registry *providertest.Registry) {
	archive := providertest.TarGz(texts{"part/main.tf": "", "sub/part/main.tf": ""})
	for i, c := range selectCases {
		for k, version := range strings.Fields(c.listed) {
			path := registry.AddArchive(fmt.Sprintf("m%d-%d.tar.gz", i, k), archive)
			forms := []string{
				path, path + "//sub", path + "?archive=tar.gz", registry.BaseURL() + path, "../../../../../.." + path,
				"./../../../../../.." + path + "//sub/./x/..?archive=tar.gz", "//" + registry.Host() + path,
			}
			registry.AddModule(providertest.ModuleSpec{
				Namespace: "acme", Name: fmt.Sprintf("m%d", i), System: "cloud", Version: version, Location: forms[i%len(forms)],
			})
		}
	}
}

// callCases writes a configuration with a file for each case, and returns the environment for it.
func callCases(t *testing.T, registry *providertest.Registry, dir string, cases []int) []string {
	t.Helper()
	for _, i := range cases {
		text := fmt.Sprintf("module \"m%d\" {\n  source = %q\n", i, caseAddress(i))
		if c := selectCases[i].constraint; c != "" {
			text += fmt.Sprintf("  version = %q\n", c)
		}
		write(t, dir, fmt.Sprintf("m%d.tf", i), text+"}\n")
	}
	return must.Get(registry.Env(t.TempDir(), "example.com"))(t)
}

// terraform runs Terraform, and returns its output.
func terraform(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	out, err := peertest.Command(t.Context(), peertest.LookTerraform(t), dir, env, args...).CombinedOutput()
	return string(out), err
}

// refusedFiles returns the files with calls about which init reports problems.
func refusedFiles(t *testing.T, dir string, env []string) map[string]bool {
	t.Helper()
	out, err := terraform(t, dir, env, "init", "-json")
	if err == nil {
		t.Fatal("nothing was refused")
	}
	refused := map[string]bool{}
	for line := range strings.Lines(out) {
		var message struct {
			Diagnostic struct {
				Severity string
				Range    struct{ Filename string }
			}
		}
		must.Succeed(t, json.Unmarshal([]byte(line), &message), line)
		if message.Diagnostic.Severity == "error" {
			refused[message.Diagnostic.Range.Filename] = true
		}
	}
	return refused
}

func wasAsked(registry *providertest.Registry, path string) bool {
	return slices.ContainsFunc(registry.Log(), func(req providertest.Request) bool { return req.Path == path })
}
