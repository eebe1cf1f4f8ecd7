package load

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLoadModule_ReadsAnFS: files in an FS are read like those of a directory.
func TestLoadModule_ReadsAnFS(t *testing.T) {
	editor := fstest.MapFS{
		"net/main.tf": {Data: []byte(`
variable "dir" {
  const = true
}
module "a" {
  source = "./${var.dir}"
}
resource "acme_thing" "x" {}
`)},
		"net/x_override.tf":         {Data: []byte("resource \"acme_thing\" \"x\" {\n  provider = other\n}\n")},
		"net/terraform.tfvars":      {Data: []byte("dir = \"m\"\n")},
		"net/tests/one.tftest.hcl":  {Data: []byte("run \"r\" {\n  module {\n    source = \"./setup\"\n  }\n}\n")},
		"net/bad.tf":                {Data: []byte("nonsense {}\n")},
		"net/nofile.tf":             {Mode: fs.ModeNamedPipe},
		"elsewhere/not_included.tf": {Data: []byte("}")},
	}
	values, diags := ReadInputs(t.Context(), "net", InputSources{FS: editor})
	must.Len(t, diags, 0)
	module, diags := LoadModuleWith("net", asTerraform, Options{FS: editor, Inputs: values})
	var problems []string
	for _, diag := range diags {
		problems = append(problems, diag.Summary)
	}
	must.EqualSlices(t, problems, []string{"Failed to read file", "Unsupported block type"}, diags)
	if at := filepath.Join("net", "bad.tf"); len(diags) == 2 && (diags[1].Subject.Filename != at || module.Files[at] == nil) {
		t.Errorf("the problem is in %v, and the files are %v", diags[1].Subject, module.Files)
	}
	must.Len(t, module.Calls, 1)
	must.Equal(t, module.Calls[0].Source, "./m")
	must.Len(t, module.TestRuns, 1)
	must.Equal(t, module.TestRuns[0].Key, strings.Replace("test.tests.one.r", "tests.", map[bool]string{true: `tests\`, false: "tests."}[runtime.GOOS == "windows"], 1))
	required, _ := module.Requirements()
	if all := required.Providers(); len(all) != 1 || all[0].Type != "other" {
		t.Errorf("required are %v", all)
	}
}

func TestLoadModule_FindsNothingOutsideOfAnFS(t *testing.T) {
	if module, diags := LoadModuleWith("gone", asTerraform, Options{FS: fstest.MapFS{}}); !module.Empty || len(diags) > 0 {
		t.Errorf("a directory that isn't there is %+v, %v", module, diags)
	}
	for _, dir := range []string{"..", "/"} {
		if _, diags := LoadModuleWith(dir, asTerraform, Options{FS: fstest.MapFS{}}); !diags.HasErrors() || !strings.Contains(diags[0].Detail, "invalid") {
			t.Errorf("%s: the problems are %v", dir, diags)
		}
	}
}
