package oracle

import (
	"io/fs"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// oracleHosts are redirected to the registry of the cases.
var oracleHosts = []string{"registry.terraform.io", "registry.opentofu.org", "tf.example.com", "another.example.org", "bücher.example"}

// oracleVersions are the providers whose packages have nothing special.
var oracleVersions = map[[2]string][]string{
	{"hashicorp", "alpha"}: {"1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0-rc1"},
	{"hashicorp", "beta"}:  {"0.9.0", "0.10.0"},
	{"hashicorp", "gamma"}: {"3.0.0"},
	{"acme", "widget"}:     {"1.0.0", "1.0.1", "1.1.0", "1.2.0-beta1", "1.2.0-beta2", "2.0.0"},
	{"acme", "gadget"}:     {"0.1.0", "0.2.0", "0.2.5"},
	{"acme", "meta"}:       {"1.0.0+build.5", "1.1.0"},
}

// oracleArchives are those whose archive is the point.
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

// newOracleRegistry starts the registry that all cases ask.
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
