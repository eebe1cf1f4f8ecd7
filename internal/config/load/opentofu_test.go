package load

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// openTofuCases are modules for OpenTofu, with their requirements and problems; tests that require
// providers have a line "test KEY PROVIDER CONSTRAINTS".
var openTofuCases = map[string]struct {
	files texts
	want  string
}{
	"a module may be there or not": {
		texts{"main.tf": `
module "a" {
  source = "./a"
  lifecycle {
    enabled = var.x
  }
}
variable "x" {}
`}, ""},
	"attributes that get lost": {
		texts{"main.tf": `
variable "x" {
  type = map(object({ a = list(object({ b = optional(string) })), t = tuple([object({ d = bool })]) }))
  default = {
    one = { a = [{ b = "x", "c" = "y" }, { c = 1 }], t = [{ d = true, e = 2 }], f = { g = 1 } }
    (1) = { a = [for x in [1] : { h = x }], t = [{ d = true }] }
  }
}
variable "y" {
  type    = any
  default = { a = 1 }
}
`}, "warning main.tf:5,29-32: Object attribute is ignored\nwarning main.tf:5,44-45: Object attribute is ignored\n" +
			"warning main.tf:5,71-72: Object attribute is ignored\nwarning main.tf:5,81-82: Object attribute is ignored\n" +
			"warning main.tf:6,35-36: Object attribute is ignored\n"},
	"other arguments of a module's lifecycle": {
		texts{"main.tf": `
module "a" {
  source = "./a"
  lifecycle {
    prevent_destroy = true
  }
}
`}, "error main.tf:5,5-20: Unsupported argument\n"},
	"twice, and with count": {
		texts{"main.tf": `
module "a" {
  source = "./a"
  count  = 1
  lifecycle {
    enabled = true
  }
  lifecycle {}
}
`}, `error main.tf:4,3-6,12: Invalid combination of "count" and "enabled"` + "\nerror main.tf:8,3-12: Duplicate lifecycle block\n"},
	"resources": {
		texts{"main.tf": `
resource "a_x" "y" {
  lifecycle {
    enabled         = var.x
    prevent_destroy = var.x
    destroy         = var.x
  }
}
data "a_x" "y" {
  lifecycle {
    enabled = false
  }
}
`}, "registry.opentofu.org/hashicorp/a\n"},
	"data sources aren't destroyed": {
		texts{"main.tf": `
data "a_x" "y" {
  lifecycle {
    destroy = false
  }
}
resource "a_x" "y" {
  lifecycle {
    action_trigger {}
  }
}
`}, "error main.tf:4,5-12: Invalid data resource lifecycle argument\nerror main.tf:9,5-19: Unsupported block type\n"},
	"instances in JSON": {
		texts{"main.tf.json": `{"provider": {"null": [{"alias": "by", "for_each": "${toset([])}"}]},
"resource": {"null_resource": {"x": {"for_each": "${toset([])}", "provider": "null.by[each.key]"}, "y": {"provider": "null.by[\"a\"]"}, "z": {"provider": "null"}}}}`},
		"registry.opentofu.org/hashicorp/null\n"},
	"no reference in JSON": {
		texts{"main.tf.json": `{"resource": {"null_resource": {"x": {"provider": "null.by[each.key].more"}}}}`},
		"error main.tf.json:1,51-73: Invalid provider configuration reference\n"},
	"a reason has to say something": {
		texts{"main.tf": `
variable "a" {
  deprecated = ""
}
output "b" {
  value      = 1
  deprecated = "  "
}
variable "c" {
  deprecated = "use d"
}
`}, "error main.tf:3,16-18: Invalid `deprecated` value\nerror main.tf:7,16-20: Invalid `deprecated` attribute\n"},
	"blocks of a module are plan's affair": {
		texts{"main.tf": `
module "a" {
  source = "./a"
  _ {
    lifecycle {}
  }
}
`}, ""},
	"instances that aren't there, or aren't chosen": {
		texts{"main.tf": `
provider "null" {
  alias    = "by"
  for_each = var.x
}
provider "null" {
  alias = "one"
}
resource "null_resource" "a" {
  provider = null.by
}
resource "null_resource" "b" {
  provider = null.one["k"]
}
resource "null_resource" "c" {
  provider = null.none["k"]
}
variable "x" {}
`}, `error main.tf:10,14-18: Invalid resource provider configuration
error main.tf:13,22-27: Invalid resource provider configuration
error main.tf:16,14-18: Invalid resource provider configuration
`},
	"keys where there are no instances": {
		texts{"main.tf": `
provider "null" {
  alias    = "by"
  for_each = { k = 1 }
}
resource "null_resource" "a" {
  provider = null["k"]
}
module "m" {
  source    = "./m"
  providers = { null.x["k"] = null.by["k"] }
}
`}, `error main.tf:11,23-28: Invalid provider configuration reference
error main.tf:7,18-23: Invalid provider configuration reference
`},
	"what goes with its provider": {
		texts{"main.tf": `
provider "null" {
  alias    = "by"
  for_each = toset(var.x)
}
resource "null_resource" "a" {
  for_each = ( toset( var.x ) )
  provider = null.by[each.key]
}
data "null_data" "a" {
  for_each = toset(var.x)
  provider = null.by[each.key]
}
resource "null_resource" "b" {
  for_each = toset(var.y)
  provider = null.by[each.key]
}
module "m" {
  source    = "./m"
  for_each  = toset(var.x)
  providers = { null = null.by[each.key] }
}
variable "x" {}
variable "y" {}
`}, `registry.opentofu.org/hashicorp/null
warning main.tf:20,15-27: Provider configuration for_each matches module
warning main.tf:7,14-32: Provider configuration for_each matches resource
`},
	"removed": {
		texts{"main.tf": `
removed {
  from = a_x.a
}
removed {
  from = a_x.b
  lifecycle {
    destroy = false
  }
  provisioner "local-exec" {
    when    = destroy
    command = "x"
  }
}
removed {
  from = a_x.c
  lifecycle {
    destroy = false
  }
}
`}, "warning main.tf:2,1-8: Missing lifecycle from the removed block\nwarning main.tf:5,1-8: Removed block provisioners will not be executed\n"},
	"versions that don't read the block": {
		texts{"main.tf": "language {\n  compatible_with {\n    opentofu = \">= 1.6\"\n  }\n}\n", "b.tofu": "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n"},
		"warning main.tf:3,5-24: Ineffective version constraint\n"},
	"test files": {
		texts{"main.tf": `
terraform {
  required_providers {
    here = { source = "acme/here" }
  }
}
`, "tests/t.tftest.hcl": `
provider "here" {
  version = "~> 1.0"
}
provider "random" {}
provider "random" {
  alias    = "by"
  for_each = toset([])
}
provider "random" {
  version = "2.0.0"
}
mock_provider "mocked" {
  alias    = "x"
  for_each = toset([])
}
run "same" {
  module {
    source = "./a"
  }
}
run "same" {
  module {
    source = "./a"
  }
}
`}, `registry.opentofu.org/acme/here
run test.tests.t.same: ./a
test test.tests.t registry.opentofu.org/acme/here ~> 1.0
test test.tests.t registry.opentofu.org/hashicorp/random 2.0.0
warning tests/t.tftest.hcl:11,13-20: Version constraints inside provider configuration blocks are deprecated
warning tests/t.tftest.hcl:3,13-21: Version constraints inside provider configuration blocks are deprecated
`},
	"two runs of one name with two modules": {
		texts{"main.tf": "", "t.tftest.hcl": `
run "same" {
  module {
    source = "./a"
  }
}
run "same" {
  module {
    source = "./b"
  }
}
`}, "error t.tftest.hcl:9,14-19: Module source has changed\n"},
	"test files have no source and no blocks of Terraform's": {
		texts{"main.tf": "", "t.tftest.hcl": `
test {}
mock_provider "a" {
  source = "./x"
}
mock_provider "a" {}
`}, "error t.tftest.hcl:2,1-5: Unsupported block type\nerror t.tftest.hcl:4,3-9: Unsupported argument\nerror t.tftest.hcl:6,1-18: Duplicate provider block\n"},
}

func TestLoadModule_OpenTofu(t *testing.T) {
	product := asOpenTofu
	for name, c := range openTofuCases {
		dir := writeFiles(t, c.files)
		got := summary(dir, product)
		module, _ := LoadModule(dir, product)
		tests, diags := module.TestRequirements()
		must.Len(t, diags, 0, name)
		lines := map[string]bool{}
		for line := range strings.Lines(got) {
			lines[line] = true
		}
		for _, test := range module.Tests {
			for _, p := range tests[test].Providers() {
				if !strings.Contains(c.want, "error") {
					lines[strings.TrimSpace("test "+dotted(test)+" "+p.String()+" "+tests[test].Constraints(p).String())+"\n"] = true
				}
			}
		}
		must.Equal(t, filepath.ToSlash(joinLines(lines)), c.want, name)
	}
}

func TestCheckProviders_OpenTofuLeavesArgumentsToThePlan(t *testing.T) {
	for _, c := range []struct {
		product getproviders.Product
		errors  bool
	}{{asTerraform, true}, {asOpenTofu, false}} {
		caller, diags := LoadModule(writeFiles(t, texts{"main.tf": "module \"a\" {\n  source = \"./a\"\n  undeclared = 1\n  foo {}\n}\n"}), c.product)
		must.Len(t, diags, 0)
		called, _ := LoadModule(writeFiles(t, texts{"main.tf": ""}), c.product)
		diags = CheckProviders([]Link{{Caller: caller, Call: caller.Calls[0], Module: called}})
		must.Equal(t, diags.HasErrors(), c.errors, c.product.Name, diags)
	}
}

// encryptedState is an encrypted state of OpenTofu, with other content.
const encryptedState = `{"serial": 2, "lineage": "x", "meta": {"key_provider.pbkdf2.k": "e30="}, "encrypted_data": "AAAA", "encryption_version": "v0"}`

func TestReadStateRequirements_EncryptedIsAnErrorOfItsOwn(t *testing.T) {
	_, err := ReadStateRequirements(strings.NewReader(encryptedState), "s", asOpenTofu)
	must.Fail(t, err, ErrStateEncrypted)
}

func TestCheckEncryption_WarnsOfUnencrypted(t *testing.T) {
	t.Parallel()
	const (
		unencrypted = "method \"unencrypted\" \"u\" {}\n"
		used        = "state {\n  method = method.unencrypted.u\n}\n"
	)
	for settings, warnings := range map[string]int{
		unencrypted:        1,
		unencrypted + used: 1,
		unencrypted + "method \"unencrypted\" \"v\" {}\n":                                     1,
		"key_provider \"pbkdf2\" \"unencrypted\" {\n  passphrase = \"0123456789abcdef\"\n}\n": 0,
		"": 0,
	} {
		dir := writeFiles(t, texts{"main.tf": "terraform {\n  encryption {\n" + settings + "  }\n}\n"})
		module, problems := LoadModule(dir, asOpenTofu)
		must.Len(t, problems, 0)
		empty, _ := LoadModule(t.TempDir(), asOpenTofu)

		for _, problems := range []hcl.Diagnostics{module.CheckEncryption(""), empty.CheckEncryption(settings)} {
			must.Len(t, problems, warnings, settings)
			for _, p := range problems {
				must.Equal(t, p.Summary, "Unencrypted method configured")
				must.Equal(t, p.Severity, hcl.DiagWarning)
			}
		}
	}
}

// TestCheckEncryption_SecretsOfTheVariableStayThere has a variable with a mistake.
func TestCheckEncryption_SecretsOfTheVariableStayThere(t *testing.T) {
	module, _ := LoadModule(t.TempDir(), asOpenTofu)
	for _, given := range []string{
		"key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"hunter2\"\n  iterations = 0\n  key_length = 0\n  salt_length = 0\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.k\n}\nstate {\n  method = method.aes_gcm.m\n}",
		`{"key_provider": {"pbkdf2": {"k": {"passphrase": "hunter2", "salt_length": 0, "key_length": 0, "iterations": 0}}}, "method": {"aes_gcm": {"m": {"keys": "key_provider.pbkdf2.k"}}}, "state": {"method": "method.aes_gcm.m"}}`,
		`{"passphrase": "hunter2"`,
		"passphrase = \"hunter2\" }",
	} {
		diags := module.CheckEncryption(given)
		if !diags.HasErrors() {
			t.Errorf("%s: no error", given)
		}
		for i, diag := range diags {
			if i > 0 && diag.Detail < diags[i-1].Detail {
				t.Errorf("%s: not in order: %v", given, diags)
			}
			if diag.Subject != nil || strings.Contains(diag.Error(), "hunter2") || !strings.Contains(diag.Detail, "TF_ENCRYPTION") {
				t.Errorf("%s: %v", given, diag)
			}
		}
	}
}

func TestReadStateRequirements_OfOpenTofuHaveProvidersOfInstances(t *testing.T) {
	product := asOpenTofu
	const keyed = `{"version":4,"resources":[{"mode":"managed","type":"a_b","name":"c","instances":[` +
		`{"index_key":"x","provider":"module.m.provider[\"acme/b\"].by[\"x\"]"},{"index_key":"y","provider":"module.m.provider[\"acme/b\"].by[\"y\"]"}]}]}`
	reqs, err := ReadStateRequirements(strings.NewReader(keyed), "state", product)
	must.Succeed(t, err)
	must.Len(t, reqs, 1)
	must.Equal(t, reqs.Providers()[0].String(), "registry.opentofu.org/acme/b")
	for _, resource := range []string{
		`"instances":[{}]`, `"provider":"aws","instances":[]`, `"provider":"module.m[0].provider[\"acme/b\"]","instances":[]`,
		`"provider":"provider[\"registry.terraform.io/-/b\"]","instances":[]`, `"provider":"provider[\"acme/b\"]","instances":[{"provider":5}]`,
	} {
		text := `{"version":4,"resources":[{"mode":"managed","type":"a_b","name":"c",` + resource + `}]}`
		must.Refuse(ReadStateRequirements(strings.NewReader(text), "state", product))(t, resource)
		must.Succeed(t, must.ErrorOf(ReadStateRequirements(strings.NewReader(text), "state", asTerraform)), resource)
	}
}
