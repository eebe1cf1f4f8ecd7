package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLoadModule_ModuleCallArguments has a call, and overrides after bars; and its source, its version and a problem, separated by commas.
func TestLoadModule_ModuleCallArguments(t *testing.T) {
	const variables = "variable \"v\" {\n  const = true\n  default = \"1.2\"\n}\nvariable \"none\" {\n  const = true\n  type = string\n  default = null\n}\nlocals {\n  v = var.v\n  none = var.none\n}\n"
	for text, want := range map[string]string{
		"source = \"a/b/c\"\nversion = \"~> 1.0\"":                                        "a/b/c,~> 1.0",
		"source = \"./a\"\nversion = null":                                                "./a",
		"source = \"a/b/c\"\nversion = 1":                                                 "a/b/c,1",
		"source = \"a/b/c\"\nversion = \"new\"":                                           "a/b/c,,Invalid version constraint",
		"source = \"a/b/c\"\nversion = \"\"":                                              "a/b/c,,Invalid version constraint",
		"source = \"a/b/c\"\nversion = \"~> ${var.v}\"":                                   "a/b/c,~> 1.2",
		"source = \"a/b/c\"\nversion = var.none":                                          "a/b/c",
		"source = \"a/b/c\"\nversion = local.v":                                           "a/b/c,1.2",
		"source = \"a/b/c\"\nversion = path.module":                                       "a/b/c,,Invalid module version",
		"source = \"a/b/c\"\nversion = \"new ${var.v}\"":                                  "a/b/c,,Invalid version constraint",
		"source = \"./${a.b.c}\"":                                                         ",,Invalid module source",
		"source = null":                                                                   ",,Unsuitable module source",
		"source = null\nversion = \"1.0\"|source = \"x/y/z\"":                             "x/y/z,1.0",
		"source = \"x/y/z\"\nversion = \"bad\"|version = \"2.0\"":                         "x/y/z,2.0",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = null":                            "x/y/z",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = (null)":                          "x/y/z",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = true ? null : \"2.0\"":           "x/y/z",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = var.none":                        "x/y/z",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = local.none":                      "x/y/z",
		"source = \"x/y/z\"\nversion = \"bad\"|version = null":                            "x/y/z",
		"source = \"x/y/z\"\nversion = var.undeclared|version = null":                     "x/y/z",
		"source = \"x/y/z\"\nversion = null|version = \"2.0\"":                            "x/y/z,2.0",
		"source = \"x/y/z\"\nversion = \"1.0\"|source = \"./a\"\nversion = null":          "./a",
		"source = \"x/y/z\"\nversion = \"1.0\"|source = \"git::./a.git\"\nversion = null": "git::./a.git",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = null|version = \"3.0\"":          "x/y/z,3.0",
		"source = \"x/y/z\"\nversion = \"1.0\"|version = \"3.0\"|version = null":          "x/y/z",
		"source = \"x/y/z\"\nversion = \"1.0\"|source = null":                             ",1.0,Unsuitable module source",
		"source = \"x/y/z\"\nversion = \"1.0\"|source = \"./a\"":                          "./a,1.0",
	} {
		blocks := strings.Split(text, "|")
		files := texts{"main.tf": "module \"m\" {\n" + blocks[0] + "\n}\n", "v.tf": variables}
		for i, override := range blocks[1:] {
			files[fmt.Sprintf("m%d_override.tf", i)] = "module \"m\" {\n" + override + "\n}\n"
		}

		call, words := load(t, files).Calls[0], strings.Split(want+",,", ",")
		must.Equal(t, call.Source, words[0], text)
		must.Equal(t, call.Version, words[1], text)
		checkProblem(t, call.Problems(), words[2], text)
	}
}

func TestLoadModule_CallsWithBadNamesAreLeftOut(t *testing.T) {
	module, diags := LoadModule(writeFiles(t, texts{
		"main.tf": "module \"../../x\" {\n  source = \"./a\"\n}\n",
	}), asTerraform)
	if !diags.HasErrors() || len(module.Calls) != 0 {
		t.Errorf("calls %v, problems %v", module.Calls, diags)
	}
}

func TestLoadModule_OnlyTheRootModuleHasTests(t *testing.T) {
	dir := writeFiles(t, texts{"a.tftest.hcl": "", "tests/b.tftest.hcl": ""})
	if root, _ := LoadModule(dir, asTerraform); root.Empty {
		t.Error("the root module is empty")
	}
	_, diags := LoadModuleWith(dir, asTerraform, Options{Path: "module.a", TestDirectory: "gone"})
	must.Len(t, diags, 0)
}

// TestLoadModule_NullVersionOfAnOverride has versions of products: up to some, a version that is null in an override file
// changes nothing.
func TestLoadModule_NullVersionOfAnOverride(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		product getproviders.Product
		want    string
	}{
		{getproviders.Terraform("1.11.4"), "1.0"},
		{getproviders.Terraform("1.14.9"), "1.0"},
		{getproviders.Terraform("1.15.0"), ""},
		{getproviders.Terraform("1.16.0"), ""},
		{getproviders.OpenTofu("1.7.3"), "1.0"},
		{getproviders.OpenTofu("1.8.0"), ""},
		{getproviders.OpenTofu("1.12.6"), ""},
	} {
		dir := writeFiles(t, texts{
			"main.tf":            "module \"m\" {\n  source  = \"a/b/c\"\n  version = \"1.0\"\n}\n",
			"m_override.tf.json": "{\"module\": {\"m\": {\"version\": null}}}\n",
		})
		module, problems := LoadModule(dir, c.product)
		must.Len(t, problems, 0)
		must.Equal(t, module.Calls[0].Version, c.want, c.product.Name+" "+c.product.Version)
	}
}
