package load

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLoadModule_ModuleCallArguments has a call, and an override after a bar; and its source, its version and a problem, separated by commas.
func TestLoadModule_ModuleCallArguments(t *testing.T) {
	const variables = "variable \"v\" {\n  const = true\n  default = \"1.2\"\n}\nvariable \"none\" {\n  const = true\n  type = string\n  default = null\n}\nlocals {\n  v = var.v\n}\n"
	for text, want := range map[string]string{
		"source = \"a/b/c\"\nversion = \"~> 1.0\"":                "a/b/c,~> 1.0",
		"source = \"./a\"\nversion = null":                        "./a",
		"source = \"a/b/c\"\nversion = 1":                         "a/b/c,1",
		"source = \"a/b/c\"\nversion = \"new\"":                   "a/b/c,,Invalid version constraint",
		"source = \"a/b/c\"\nversion = \"\"":                      "a/b/c,,Invalid version constraint",
		"source = \"a/b/c\"\nversion = \"~> ${var.v}\"":           "a/b/c,~> 1.2",
		"source = \"a/b/c\"\nversion = var.none":                  "a/b/c",
		"source = \"a/b/c\"\nversion = local.v":                   "a/b/c,1.2",
		"source = \"a/b/c\"\nversion = path.module":               "a/b/c,,Invalid module version",
		"source = \"a/b/c\"\nversion = \"new ${var.v}\"":          "a/b/c,,Invalid version constraint",
		"source = \"./${a.b.c}\"":                                 ",,Invalid module source",
		"source = null":                                           ",,Unsuitable module source",
		"source = null\nversion = \"1.0\"|source = \"x/y/z\"":     "x/y/z,1.0",
		"source = \"x/y/z\"\nversion = \"bad\"|version = \"2.0\"": "x/y/z,2.0",
	} {
		block, override, _ := strings.Cut(text, "|")
		files := texts{"main.tf": "module \"m\" {\n" + block + "\n}\n", "v.tf": variables}
		if override != "" {
			files["override.tf"] = "module \"m\" {\n" + override + "\n}\n"
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
