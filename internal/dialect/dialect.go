// Package dialect says what files of the products have: what differs between Terraform and OpenTofu is a field here, never a second
// code path.
package dialect

import (
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Dialect is a product, which isn't zero, with what it reads and writes.
type Dialect struct {
	getproviders.Product

	Suffixes     []string // of configuration files: ".tf", ".tf.json"
	TestSuffixes []string // of test files: ".tftest.hcl", ".tftest.json"

	// Hides are suffixes of files in whose presence a file of the same name with
	// another suffix isn't read: ".tofu" to ".tf".
	Hides map[string]string

	// VersionSuffixes are those of files whose required_version counts; nil: all.
	VersionSuffixes []string

	// words are what only this product understands:
	//   - in configuration files "language" blocks, "encryption" in terraform blocks, "for_each" in provider
	//     blocks;
	//   - modules at addresses with "oci", and in the runs of tests modules that are fetched, "remote_runs";
	//   - "download_retry_count" and "trust_all_hashes" in the CLI configuration;
	//   - in states "unreadable_addresses" of providers, which it passes over;
	//   - "bare_records" of backends, which may be empty, and say no version;
	//   - in answers of module registries "located_in_body", which says where a package is, and "served_packages" of their own;
	//   - in a lock file "constraints_too" of packages that are there already, when the file is written;
	//   - "mirrored_zh", which a network mirror lists and it writes into the lock file;
	//   - in what init says "phases_apart", after each of which stands an empty line;
	//   - in what init says of a module that it has copied "quiet_copy": a backend that says nothing isn't set apart;
	//   - in what init says "running_providers", of which it warns, operands as "no_arguments", and "lock_apart", that what is said of the lock
	//     file alone stands apart; "bad_workspaces" in files, whose names it refuses as those of TF_WORKSPACE.
	words []string

	// TestProviders says that provider blocks of test files are requirements, with
	// versions and instances, and that test files are no configuration: a directory with
	// nothing else counts as empty.
	TestProviders bool

	// StaticModules are modules whose source and version may be computed from
	// any variable, and so may the arguments of backends; without it from those
	// that are declared constant, and those of backends from nothing.
	StaticModules bool
}

// Of is the dialect of a product; of the zero one, Terraform's.
func Of(product getproviders.Product) Dialect {
	product = product.OrDefault()
	if product.Predecessor == nil {
		d := Dialect{
			Product: product, Suffixes: []string{".tf", ".tf.json"}, TestSuffixes: []string{".tftest.hcl", ".tftest.json"}, words: []string{"unreadable_addresses"},
		}
		if product.IsSince("1.15") {
			d.words = append(d.words, "phases_apart")
		}
		if product.IsSince("1.16") {
			d.words = append(d.words, "running_providers", "no_arguments", "lock_apart", "bad_workspaces", "quiet_copy")
		}
		return d
	}
	d := Dialect{
		Product:      product,
		Suffixes:     []string{".tofu", ".tofu.json", ".tf", ".tf.json"},
		TestSuffixes: []string{".tofutest.hcl", ".tofutest.json", ".tftest.hcl", ".tftest.json"},
		Hides: map[string]string{
			".tofu": ".tf", ".tofu.json": ".tf.json",
			".tofutest.hcl": ".tftest.hcl", ".tofutest.json": ".tftest.json",
		},
		words: []string{"encryption", "for_each", "oci", "remote_runs", "download_retry_count", "trust_all_hashes",
			"bare_records", "mirrored_zh", "located_in_body", "constraints_too"},
		TestProviders: true,
		StaticModules: true,
	}
	if product.IsSince("1.12") { // where ".tf" files have required_version for Terraform, as there are language blocks for its own
		d.VersionSuffixes = []string{".tofu", ".tofu.json"}
		d.words = append(d.words, "language", "served_packages")
	}
	return d
}

// Understands reports whether the product knows a word that the other one doesn't.
func (d Dialect) Understands(word string) bool { return slices.Contains(d.words, word) }
