package load

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestLoadModule_ModuleCallArguments(t *testing.T) {
	tests := []struct {
		name, block, override string
		source, version       string
		problem               string
	}{
		{name: "both", block: `source = "a/b/c"
			version = "~> 1.0"`, source: "a/b/c", version: "~> 1.0"},
		{name: "null is no version", block: `source = "./a"
			version = null`, source: "./a"},
		{name: "a number is a version", block: `source = "a/b/c"
			version = 1`, source: "a/b/c", version: "1"},
		{name: "no constraint", block: `source = "a/b/c"
			version = "new"`, source: "a/b/c", problem: "Invalid version constraint"},
		{name: "empty", block: `source = "a/b/c"
			version = ""`, source: "a/b/c", problem: "Invalid version constraint"},
		{name: "of a variable", block: "source = \"a/b/c\"\nversion = \"~> ${var.v}\"", source: "a/b/c", version: "~> 1.2"},
		{name: "a null variable is none", block: "source = \"a/b/c\"\nversion = var.none", source: "a/b/c"},
		{name: "of a local value", block: "source = \"a/b/c\"\nversion = local.v", source: "a/b/c", version: "1.2"},
		{name: "of a path", block: "source = \"a/b/c\"\nversion = path.module", source: "a/b/c", problem: "Invalid module version"},
		{name: "no constraint of a variable", block: "source = \"a/b/c\"\nversion = \"new ${var.v}\"", source: "a/b/c", problem: "Invalid version constraint"},
		{name: "resources", block: `source = "./${a.b.c}"`, problem: "Invalid module source"},
		{name: "null is no source", block: `source = null`, problem: "Unsuitable module source"},
		{name: "another source", block: `source = null
			version = "1.0"`, override: `source = "x/y/z"`, source: "x/y/z", version: "1.0"},
		{name: "another version", block: `source = "x/y/z"
			version = "bad"`, override: `version = "2.0"`, source: "x/y/z", version: "2.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := texts{
				"main.tf": "module \"m\" {\n" + tt.block + "\n}\n",
				"v.tf":    "variable \"v\" {\n  const = true\n  default = \"1.2\"\n}\nvariable \"none\" {\n  const = true\n  type = string\n  default = null\n}\nlocals {\n  v = var.v\n}\n",
			}
			if tt.override != "" {
				files["override.tf"] = "module \"m\" {\n" + tt.override + "\n}\n"
			}
			call := load(t, files).Calls[0]
			must.Equal(t, call.Source, tt.source)
			must.Equal(t, call.Version, tt.version)
			checkProblem(t, call.Problems(), tt.problem)
		})
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
