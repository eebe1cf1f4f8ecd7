package load

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestReadInputs_CountInOrder(t *testing.T) {
	all := []struct{ file, content string }{
		{"terraform.tfvars", `x = "1"`},
		{"terraform.tfvars.json", `{"x": "2"}`},
		{".a.auto.tfvars", `x = "3"`},
		{"a.auto.tfvars.json", `{"x": "${4}"}`},
		{"b.auto.tfvars", `x = "5"`},
	}
	files := texts{"c.auto.tfvars~": "broken", "other.tfvars": `x = "7"`}
	want := []string{"0", "1", "2", "3", "${4}", "5"}
	for i := range want {
		if i > 0 {
			files[all[i-1].file] = all[i-1].content
		}
		must.Equal(t, inputFor(t, files, "", InputSources{Environ: []string{"A=b", "TF_VAR_x=0", "TF_VAR_=y"}}), want[i], i)
	}
	arguments := InputSources{Arguments: []InputArgument{{Assignment: "x=6"}, {File: "other.tfvars"}}}
	must.Equal(t, inputFor(t, files, "", arguments), "7", "the last argument is -var-file")
	slices.Reverse(arguments.Arguments)
	must.Equal(t, inputFor(t, files, "", arguments), "6", "the last argument is -var")
}

// inputFor is the source of a module that is the variable x of the root module.
func inputFor(t *testing.T, files texts, typ string, sources InputSources) string {
	t.Helper()
	module, diags := loadInputs(t, files, typ, sources)
	must.Len(t, diags, 0)
	return module.Calls[0].Source
}

func loadInputs(t *testing.T, files texts, typ string, sources InputSources) (*Module, hcl.Diagnostics) {
	t.Helper()
	dir := writeFiles(t, files)
	must.Write(t, filepath.Join(dir, "main.tf"), "variable \"x\" {\n  const = true\n"+typ+"\n}\nmodule \"m\" {\n  source = var.x\n}\n")
	sources.WorkingDir = dir
	inputs, diags := ReadInputs(dir, sources)
	module, more := LoadModuleWith(dir, asTerraform, Options{Inputs: inputs})
	diags = append(diags, more...)
	for _, call := range module.Calls {
		diags = append(diags, call.Problems()...)
	}
	return module, diags
}

func TestReadInputs_ReadTextAsTheTypeSays(t *testing.T) {
	for _, tt := range []struct{ name, typ, text, want, problem string }{
		{name: "no type", text: `["a"]`, want: `["a"]`},
		{name: "string", typ: "type = string", text: `"a"`, want: `"a"`},
		{name: "number", typ: "type = number", text: `01`, want: `1`},
		{name: "no number", typ: "type = number", text: `hidden`, problem: "Invalid value for input variable"},
		{name: "any", typ: "type = any", text: `"a"`, want: "a"},
		{name: "no expression", typ: "type = any", text: `[`, problem: "Missing expression"},
		{name: "variable", typ: "type = any", text: `y`, problem: "Variables not allowed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, sources := range []InputSources{
				{Environ: []string{"TF_VAR_x=" + tt.text}},
				{Arguments: []InputArgument{{Assignment: "x=" + tt.text}}},
			} {
				module, diags := loadInputs(t, nil, tt.typ, sources)
				must.Equal(t, module.Calls[0].Source, tt.want)
				checkProblem(t, diags, tt.problem)
			}
		})
	}
}

func TestReadInputs_SensitiveTextIsNotShown(t *testing.T) {
	values, diags := ReadInputs(t.TempDir(), InputSources{Arguments: []InputArgument{{Assignment: "x=[hidden"}}})
	checkProblem(t, diags, "")
	_, diags = loadWith(t, Options{Inputs: values}, texts{"main.tf": "variable \"x\" {\n  type = any\n  sensitive = true\n}\n"})
	checkProblem(t, diags, "Invalid value for input variable")
}

// longLoops make a large value a thousand times.
var longLoops = "x = " + strings.Repeat("[for k in [0,1,2,3,4,5,6,7,8,9] : ", 3) + strconv.Quote(strings.Repeat("a", 100_000)) + strings.Repeat("]", 3) + "\n"

// TestReadInputs_ComputeLoops has a value that only a loop knows, as Terraform computes it.
func TestReadInputs_ComputeLoops(t *testing.T) {
	must.Equal(t, inputFor(t, texts{"terraform.tfvars": "x = {for k in [\"./a\", \"./b\"] : k => \"${k}c\"}[\"./b\"]\n"}, "", InputSources{}), "./bc")
}

func TestReadInputs_Problems(t *testing.T) {
	for _, tt := range []struct {
		name     string
		files    texts
		argument InputArgument
		summary  string
		file     string
		line     int
	}{
		{name: "no equals sign", argument: InputArgument{Assignment: "hidden"}, summary: "Invalid -var option"},
		{name: "no name", argument: InputArgument{Assignment: "=hidden"}, summary: "Invalid -var option"},
		{name: "spaces", argument: InputArgument{Assignment: "x =hidden"}, summary: "Invalid -var option"},
		{name: "undeclared", argument: InputArgument{Assignment: "y=hidden"}, summary: "Value for undeclared variable"},
		{name: "missing file", argument: InputArgument{File: "gone.tfvars"}, summary: "Failed to read variables file"},
		{name: "directory", files: map[string]string{"d/": ""}, argument: InputArgument{File: "d"}, summary: "Failed to read variables file"},
		{name: "undeclared in a file", files: texts{"terraform.tfvars": "y = 1"}, argument: InputArgument{Assignment: "x=./a"}, summary: "Value for undeclared variable"},
		{name: "many undeclared in files", files: texts{"terraform.tfvars": "y = 1\nz = \"hidden\"\n", "a.auto.tfvars": "w = 1"}, summary: "Values for undeclared variables"},
		{name: "automatic directory", files: map[string]string{"a.auto.tfvars/": ""}, summary: "Failed to read variables file"},
		{name: "block", files: texts{"terraform.tfvars": "\nb {\n}\n"}, summary: `Unexpected "b" block`, file: "terraform.tfvars", line: 2},
		{name: "reference", files: texts{"a.auto.tfvars": "\nx = var.y\n"}, summary: "Variables not allowed", file: "a.auto.tfvars", line: 2},
		{name: "syntax", files: texts{"a.auto.tfvars.json": "["}, file: "a.auto.tfvars.json", summary: "Missing value", line: 1},
		{name: "loop", files: texts{"a.auto.tfvars": "x = [for k in [\"./a\"] : k][0]\n", "b.auto.tfvars": "x = join([for k in [1] : k])\n"}, summary: "Function calls not allowed", file: "b.auto.tfvars", line: 1},
		{name: "loops that take long", files: texts{"a.auto.tfvars": longLoops, "b.auto.tfvars": "y = [for k in [1] : k]\n"}, summary: "Expression too complex", file: "a.auto.tfvars", line: 1},
		{name: "wrong type", files: texts{"a.auto.tfvars": "\nx = [\"hidden\"]\n"}, summary: "Invalid value for input variable", file: "a.auto.tfvars", line: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadInputs(t, tt.files, "type = string\ndefault = \"./b\"", InputSources{Arguments: []InputArgument{tt.argument}}.without(InputArgument{}))
			if tt.summary == "" {
				must.Len(t, diags, 0)
				return
			}
			found := slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool {
				return d.Summary == tt.summary && (tt.file == "" || d.Subject != nil && filepath.Base(d.Subject.Filename) == tt.file && d.Subject.Start.Line == tt.line)
			})
			if !found {
				t.Errorf("problems %v, want %q at %s:%d", diags, tt.summary, tt.file, tt.line)
			}
			must.NotContain(t, diags.Error(), "hidden", "the problem tells a value", diags)
		})
	}
}

// without drops an argument that stands for "none".
func (s InputSources) without(none InputArgument) InputSources {
	s.Arguments = slices.DeleteFunc(s.Arguments, func(a InputArgument) bool { return a == none })
	return s
}

func TestReadInputs_MatterToTerraformWithoutConstants(t *testing.T) {
	dir := writeFiles(t, texts{"main.tf": `variable "x" {}`, "terraform.tfvars": "broken"})
	inputs, diags := ReadInputs(dir, InputSources{Arguments: []InputArgument{{Assignment: "y=1"}}})
	if inputs == nil || !diags.HasErrors() {
		t.Errorf("inputs %v with %v", inputs, diags)
	}
	module, diags := LoadModuleWith(dir, asTerraform, Options{Inputs: inputs})
	if module.Constant || len(diags) != 1 || diags[0].Summary != "Value for undeclared variable" {
		t.Errorf("Constant is %v, with %v", module.Constant, diags)
	}
	if _, diags := LoadModuleWith(dir, asOpenTofu, Options{Inputs: inputs}); len(diags) > 0 {
		t.Errorf("in the place of OpenTofu: %v", diags)
	}
}

func FuzzReadInputs(f *testing.F) {
	f.Add("x = 1\n", `{"x": "a"}`, "x=[1]", "list(string)")
	f.Add("x = [", `{"x": {"a": null}}`, "x", "object({a = optional(string, \"b\")})")
	f.Add("x = 1e999999999", `[]`, "=", "map(any)")
	f.Add("x = 1e9999999999", `{"x": 1e9999999999}`, "x=1e9999999999", "any")
	f.Fuzz(func(t *testing.T, native, json, argument, typ string) {
		dir := writeFiles(t, texts{
			"terraform.tfvars": native, "a.auto.tfvars.json": json,
			"main.tf": "variable \"x\" {\n  const = true\n  type = " + typ + "\n}\nmodule \"m\" {\n  source = \"./${var.x}\"\n  y = var.x\n}\n",
		})
		inputs, _ := ReadInputs(dir, InputSources{Arguments: []InputArgument{{Assignment: argument}}, Environ: []string{"TF_VAR_x=" + argument}})
		module, _ := LoadModuleWith(dir, asTerraform, Options{Inputs: inputs})
		for _, call := range module.Calls {
			LoadModuleWith(dir, asTerraform, Options{Inputs: call.Inputs, Path: "module.m"})
		}
	})
}
