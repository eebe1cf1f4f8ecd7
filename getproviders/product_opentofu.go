package getproviders

import "github.com/tfdeps/tfdeps/getproviders/hosts"

// OpenTofuHost is the registry of addresses that name no host, in OpenTofu.
const OpenTofuHost = hosts.Hostname("registry.opentofu.org")

// versionOfLanguageBlocks is the first of OpenTofu that takes required_version
// in ".tf" files for one of Terraform's, as there is a block "language" for its own.
var versionOfLanguageBlocks = MustParseVersion("1.12.0")

// OpenTofu describes OpenTofu at the given version. A version that can't be
// read counts as a late one.
func OpenTofu(version string) Product {
	predecessor := Terraform("")
	product := Product{
		Name:        "OpenTofu",
		Program:     "tofu",
		Version:     version,
		DefaultHost: OpenTofuHost,
		Suffixes:    []string{".tofu", ".tofu.json", ".tf", ".tf.json"},
		TestSuffixes: []string{
			".tofutest.hcl", ".tofutest.json", ".tftest.hcl", ".tftest.json",
		},
		Hides: map[string]string{
			".tofu": ".tf", ".tofu.json": ".tf.json",
			".tofutest.hcl": ".tftest.hcl", ".tofutest.json": ".tftest.json",
		},
		VersionSuffixes: []string{".tofu", ".tofu.json"},
		Language:        []string{"encryption", "for_each", "language"},
		StaticModules:   true,
		Predecessor:     &predecessor,
		XDGName:         "opentofu",
		Keys:            &SigningKeys{},
		KeylessHost:     OpenTofuHost,
	}
	if v, err := ParseVersion(version); err == nil && v.Compare(versionOfLanguageBlocks) < 0 {
		product.VersionSuffixes, product.Language = nil, []string{"encryption", "for_each"}
	}
	return product
}

// Inherits reports whether an address that is written out is what the product's
// predecessor made of one in the namespace "hashicorp", and returns what this
// product makes of it: in lock files and states it is that provider.
func (e Product) Inherits(p Provider) (own Provider, ok bool) {
	if e.Predecessor == nil || p.Hostname != e.Predecessor.DefaultHost || p.Namespace != impliedNamespace {
		return Provider{}, false
	}
	return Provider{Hostname: e.DefaultHost, Namespace: p.Namespace, Type: p.Type}, true
}
