package main

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
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
var oracleArchives = map[string][]zipEntry{
	"directories": {
		{name: "docs/", mode: fs.ModeDir | 0o755},
		{name: "docs/empty/", mode: fs.ModeDir | 0o750},
		{name: "docs/README.md", mode: 0o644, content: "hello\n"},
		{name: "terraform-provider-directories", mode: 0o755, content: "not a real provider\n"},
	},
	"modes": {
		{name: "terraform-provider-modes", mode: 0o700, content: "not a real provider\n"},
		{name: "LICENSE", mode: 0o444, content: "do what you like\n"},
		{name: "open", mode: 0o777, content: "everybody's\n"},
		{name: "private", mode: 0o600, content: "mine\n"},
	},
	"setuid": {
		{name: "terraform-provider-setuid", mode: fs.ModeSetuid | 0o755, content: "not a real provider\n"},
	},
	"tree": {
		{name: "terraform-provider-tree_v1.0.0_x5", mode: 0o755, content: "not a real provider\n"},
		{name: "a/b/c/d", mode: 0o644, content: "deep\n"},
		{name: "a/b.txt", mode: 0o644, content: "less deep\n"},
		{name: "a-b", mode: 0o644, content: "sorts before a/b\n"},
		{name: "empty", mode: 0o644},
		{name: "größe.txt", mode: 0o644, content: "size\n"},
		{name: ".hidden", mode: 0o644, content: "psst\n"},
	},
	"windows": {
		{name: "terraform-provider-windows", fat: true, content: "not a real provider\n"},
		{name: "README.txt", fat: true, content: "hello\r\n"},
	},
	"stored": {
		{name: "terraform-provider-stored", mode: 0o755, stored: true, content: "not a real provider\n"},
	},
	"suffix": {
		{name: "terraform-provider-suffix_v1.0.0.beta", mode: 0o755, content: "not a real provider\n"},
	},
}

// zipEntry is one entry of a package archive.
type zipEntry struct {
	name, content string
	mode          fs.FileMode
	stored        bool // not compressed
	fat           bool // made on a system without modes
}

// zipOf makes an archive of the entries, in their order.
func zipOf(tb testing.TB, entries []zipEntry) []byte {
	tb.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.stored {
			header.Method = zip.Store
		}
		if !e.fat {
			header.SetMode(e.mode)
		}
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(w, e.content)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// newOracleRegistry starts the registry that all cases ask.
func newOracleRegistry(t testing.TB, ca *providertest.CA) *providertest.Registry {
	t.Helper()
	registry := started(t, providertest.NewRegistry, providertest.Options{CA: ca})
	for provider, versions := range oracleVersions {
		for _, v := range versions {
			registry.Add(providertest.PackageSpec{Namespace: provider[0], Type: provider[1], Version: v})
		}
	}
	for name, entries := range oracleArchives {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: zipOf(t, entries)})
	}
	elsewhere := []getproviders.Platform{{OS: "plan9", Arch: "mips"}, {OS: "solaris", Arch: "sparc64"}}
	for _, platform := range append(elsewhere, getproviders.CurrentPlatform()) {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "platforms", Version: "1.0.0", Platform: platform})
	}
	for _, platform := range append(elsewhere, getproviders.CurrentPlatform()) {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "keyless", Version: "1.0.0", Platform: platform, Keys: []providertest.Key{},
			Archive: zipOf(t, []zipEntry{{name: "terraform-provider-keyless", mode: 0o755, content: platform.String()}})})
	}
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "foreign", Version: "1.0.0", Platform: elsewhere[0]})
	return registry
}
