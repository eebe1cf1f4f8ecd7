package oracle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// oracleHosts are redirected to the registry of the cases.
var oracleHosts = []string{"registry.terraform.io", "registry.opentofu.org", "tf.example.com", "another.example.org", "bücher.example"}

// oracleVersions are the providers with ordinary packages.
var oracleVersions = map[[2]string][]string{
	{"hashicorp", "alpha"}: {"1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0-rc1"},
	{"hashicorp", "beta"}:  {"0.9.0", "0.10.0"},
	{"hashicorp", "gamma"}: {"3.0.0"},
	{"acme", "widget"}:     {"1.0.0", "1.0.1", "1.1.0", "1.2.0-beta1", "1.2.0-beta2", "2.0.0"},
	{"acme", "gadget"}:     {"0.1.0", "0.2.0", "0.2.5"},
	{"acme", "meta"}:       {"1.0.0+build.5", "1.1.0"},
}

// oracleArchives are the providers with special archives.
var oracleArchives = map[string][]harness.ZipEntry{
	"directories": {
		{Name: "docs/", Mode: fs.ModeDir | 0o755},
		{Name: "docs/empty/", Mode: fs.ModeDir | 0o750},
		{Name: "docs/README.md", Mode: 0o644, Content: "hello\n"},
		{Name: "terraform-provider-directories", Mode: 0o755, Content: "not a real provider\n"},
	},
	"modes": {
		{Name: "terraform-provider-modes", Mode: 0o700, Content: "not a real provider\n"},
		{Name: "LICENSE", Mode: 0o444, Content: "do what you like\n"},
		{Name: "open", Mode: 0o777, Content: "everybody's\n"},
		{Name: "private", Mode: 0o600, Content: "mine\n"},
	},
	"setuid": {
		{Name: "terraform-provider-setuid", Mode: fs.ModeSetuid | 0o755, Content: "not a real provider\n"},
	},
	"tree": {
		{Name: "terraform-provider-tree_v1.0.0_x5", Mode: 0o755, Content: "not a real provider\n"},
		{Name: "a/b/c/d", Mode: 0o644, Content: "deep\n"},
		{Name: "a/b.txt", Mode: 0o644, Content: "less deep\n"},
		{Name: "a-b", Mode: 0o644, Content: "sorts before a/b\n"},
		{Name: "empty", Mode: 0o644},
		{Name: "größe.txt", Mode: 0o644, Content: "size\n"},
		{Name: ".hidden", Mode: 0o644, Content: "psst\n"},
	},
	"windows": {
		{Name: "terraform-provider-windows", FAT: true, Content: "not a real provider\n"},
		{Name: "README.txt", FAT: true, Content: "hello\r\n"},
	},
	"stored": {
		{Name: "terraform-provider-stored", Mode: 0o755, Stored: true, Content: "not a real provider\n"},
	},
	"suffix": {
		{Name: "terraform-provider-suffix_v1.0.0.beta", Mode: 0o755, Content: "not a real provider\n"},
	},
}

// newOracleRegistry starts the registry of all cases.
func newOracleRegistry(t testing.TB, ca *providertest.CA) *providertest.Registry {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	for provider, versions := range oracleVersions {
		for _, v := range versions {
			registry.Add(providertest.PackageSpec{Namespace: provider[0], Type: provider[1], Version: v})
		}
	}
	for name, entries := range oracleArchives {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: harness.ZipOf(t, entries)})
	}
	elsewhere := []getproviders.Platform{{OS: "plan9", Arch: "mips"}, {OS: "solaris", Arch: "sparc64"}}
	for _, platform := range append(elsewhere, getproviders.CurrentPlatform()) {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "platforms", Version: "1.0.0", Platform: platform})
	}
	for _, platform := range append(elsewhere, getproviders.CurrentPlatform()) {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "keyless", Version: "1.0.0", Platform: platform, Keys: []providertest.Key{},
			Archive: harness.ZipOf(t, []harness.ZipEntry{{Name: "terraform-provider-keyless", Mode: 0o755, Content: platform.String()}})})
	}
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "foreign", Version: "1.0.0", Platform: elsewhere[0]})
	return registry
}

// archiveStatuses are the statuses of responses with an archive.
var archiveStatuses = []int{200, 201, 202, 203, 206, 207, 208, 226, 299, 300, 304, 400, 403, 404, 410, 451}

var tofuStatusExemptions = map[string]harness.Exemption{"status206": {Exit: true, Reason: "difference 44: a package with status 206 is taken"}}

// TestStatuses_SameAsTerraform has a server answer with all bytes of an archive and another status than 200.
func TestStatuses_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareStatuses(t, withTerraform(t), nil)
}

// TestStatuses_SameAsTofu is the same for OpenTofu.
func TestStatuses_SameAsTofu(t *testing.T) {
	t.Parallel()
	compareStatuses(t, withTofu(t), tofuStatusExemptions)
}

func compareStatuses(t *testing.T, p *pair, exempt map[string]harness.Exemption) {
	t.Helper()
	ca := harness.NewCA(t)
	p.registry = newOracleRegistry(t, ca)
	var entries []harness.ZipEntry
	for _, status := range archiveStatuses {
		entries = append(entries, harness.ZipEntry{Name: fmt.Sprintf("terraform-provider-status%d", status), Mode: 0o755, Content: "not a real provider\n"})
	}
	archive := harness.ZipOf(t, entries)
	server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, _ := strconv.Atoi(strings.Trim(req.URL.Path, "/"))
		w.Header().Set("Content-Length", strconv.Itoa(len(archive)))
		w.WriteHeader(status)
		_, _ = w.Write(archive)
	})})
	cases := map[string]int{}
	for _, status := range archiveStatuses {
		name := fmt.Sprintf("status%d", status)
		cases[name] = status
		p.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: archive})
		p.registry.Break("package", providertest.Fault{Path: "/" + name + "/", Body: func(document []byte) []byte {
			var fields map[string]any
			must.Succeed(t, json.Unmarshal(document, &fields))
			fields["download_url"] = fmt.Sprintf("%s/%d", server.BaseURL(), status)
			return must.Get(json.Marshal(fields))(t)
		}})
	}
	eachCase(t, cases, exempt, 10, func(t *testing.T, status int, allowed harness.Exemption) {
		o := p.begin(t, nil, allowed)
		var ends [2]harness.Ended
		for i := range ends {
			o.prepare(i, files{"main.tf": fmt.Sprintf("terraform {\n  required_providers {\n    x = { source = \"acme/status%d\" }\n  }\n}\n", status)})
			ends[i] = o.in(i, i, "init", "-no-color")
		}
		if (outcome(ends[0]) != outcome(ends[1])) != allowed.Exit || status == 200 && ends[0].Code != 0 {
			t.Errorf("--- ours\n%s\n--- theirs\n%s", ends[0], ends[1])
		}
	})
}
