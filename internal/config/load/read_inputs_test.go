package load

import (
	"fmt"
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

// inputFor returns the source of a module with the input x of the root module.
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
	inputs, diags := ReadInputs(t.Context(), dir, sources)
	module, more := LoadModuleWith(dir, asTerraform, Options{Inputs: inputs})
	diags = append(diags, more...)
	for _, call := range module.Calls {
		diags = append(diags, call.Problems()...)
	}
	return module, diags
}

// TestReadInputs_ReadTextAsTheTypeSays has the type arguments of a variable, a bar, and a text; and the value, or a problem after "!".
func TestReadInputs_ReadTextAsTheTypeSays(t *testing.T) {
	for given, want := range map[string]string{
		`|["a"]`:               `["a"]`,
		`type = string|"a"`:    `"a"`,
		"type = number|01":     "1",
		"type = number|hidden": "!Invalid value for input variable",
		`type = any|"a"`:       "a",
		"type = any|[":         "!Missing expression",
		"type = any|y":         "!Variables not allowed",
	} {
		typ, text, _ := strings.Cut(given, "|")
		want, problem, _ := strings.Cut(want, "!")
		for _, sources := range []InputSources{
			{Environ: []string{"TF_VAR_x=" + text}},
			{Arguments: []InputArgument{{Assignment: "x=" + text}}},
		} {
			module, diags := loadInputs(t, nil, typ, sources)
			must.Equal(t, module.Calls[0].Source, want, given)
			checkProblem(t, diags, problem, given)
		}
	}
}

func TestReadInputs_SensitiveTextIsNotShown(t *testing.T) {
	values, diags := ReadInputs(t.Context(), t.TempDir(), InputSources{Arguments: []InputArgument{{Assignment: "x=[hidden"}}})
	checkProblem(t, diags, "")
	_, diags = loadWith(t, Options{Inputs: values}, texts{"main.tf": "variable \"x\" {\n  type = any\n  sensitive = true\n}\n"})
	checkProblem(t, diags, "Invalid value for input variable")
}

// TestReadInputs_LinksThatLeadNowhere has names of links, and whether one is an error. Templates have such links in place of a
// file that everybody brings.
func TestReadInputs_LinksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{
		"terraform.tfvars":      false,
		"terraform.tfvars.json": false,
		"a.auto.tfvars":         true,
		"a.auto.tfvars.json":    true,
	} {
		for _, target := range []string{"nowhere.tfvars", "gone/terraform.tfvars", name} {
			dir := t.TempDir()
			err := must.Symlink(target, filepath.Join(dir, name))
			if err != nil {
				t.Skip(err)
			}
			_, diags := ReadInputs(t.Context(), dir, InputSources{})
			must.Equal(t, diags.HasErrors(), fails, name, target)
		}
	}
}

// A copied configuration may bring values for variables that it doesn't declare.
func TestReadInputs_OfACopyAreNotWarnedOf(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, texts{"main.tf": "", "terraform.tfvars": "y = 1"})
	inputs, diags := ReadInputs(t.Context(), dir, InputSources{})
	must.Len(t, diags, 0)
	for within, warnings := range map[string]int{"": 1, dir: 0} {
		_, diags := LoadModuleWith(dir, asTerraform, Options{Inputs: inputs, Within: within})
		must.Len(t, diags, warnings, within)
	}
}

// longLoops make a large value a thousand times.
var longLoops = "x = " + strings.Repeat("[for k in [0,1,2,3,4,5,6,7,8,9] : ", 3) + strconv.Quote(strings.Repeat("a", 100_000)) + strings.Repeat("]", 3) + "\n"

// TestReadInputs_ComputeLoops has a value that is computed only by a loop, as Terraform does.
func TestReadInputs_ComputeLoops(t *testing.T) {
	must.Equal(t, inputFor(t, texts{"terraform.tfvars": "x = {for k in [\"./a\", \"./b\"] : k => \"${k}c\"}[\"./b\"]\n"}, "", InputSources{}), "./bc")
}

// TestReadInputs_Problems has arguments and files, which all contain the word hidden, and the problem with its file
// and line.
func TestReadInputs_Problems(t *testing.T) {
	t.Run("arguments", func(t *testing.T) {
		for argument, want := range map[InputArgument]string{
			{Assignment: "hidden"}:    "Invalid -var option",
			{Assignment: "=hidden"}:   "Invalid -var option",
			{Assignment: "x =hidden"}: "Invalid -var option",
			{Assignment: "y=hidden"}:  "Value for undeclared variable",
			{File: "gone.tfvars"}:     "Failed to read variables file",
			{File: "d"}:               "Failed to read variables file", // a directory
		} {
			checkInputs(t, texts{"d/": ""}, want, argument)
		}
	})
	for want, files := range map[string]texts{
		"Value for undeclared variable":                       {"terraform.tfvars": "y = 1"},
		"Values for undeclared variables":                     {"terraform.tfvars": "y = 1\nz = \"hidden\"\n", "a.auto.tfvars": "w = 1"},
		"Failed to read variables file":                       {"a.auto.tfvars/": ""},
		`Unexpected "b" block at terraform.tfvars:2`:          {"terraform.tfvars": "\nb {\n}\n"},
		"Variables not allowed at a.auto.tfvars:2":            {"a.auto.tfvars": "\nx = var.y\n"},
		"Missing value at a.auto.tfvars.json:1":               {"a.auto.tfvars.json": "["},
		"Function calls not allowed at b.auto.tfvars:1":       {"a.auto.tfvars": "x = [for k in [\"./a\"] : k][0]\n", "b.auto.tfvars": "x = join([for k in [1] : k])\n"},
		"Expression too complex at a.auto.tfvars:1":           {"a.auto.tfvars": longLoops, "b.auto.tfvars": "y = [for k in [1] : k]\n"},
		"Invalid value for input variable at a.auto.tfvars:2": {"a.auto.tfvars": "\nx = [\"hidden\"]\n"},
	} {
		t.Run(want, func(t *testing.T) { checkInputs(t, files, want) })
	}
}

// checkInputs reads the inputs of a text variable with one problem, as "SUMMARY at FILE:LINE" if it is in a file.
func checkInputs(t *testing.T, files texts, want string, arguments ...InputArgument) {
	t.Helper()
	_, diags := loadInputs(t, files, "type = string\ndefault = \"./b\"", InputSources{Arguments: arguments})
	found := slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool {
		return d.Summary == want || d.Subject != nil && fmt.Sprintf("%s at %s:%d", d.Summary, filepath.Base(d.Subject.Filename), d.Subject.Start.Line) == want
	})
	if !found {
		t.Errorf("problems %v, want %q", diags, want)
	}
	must.NotContain(t, diags.Error(), "hidden", "the problem tells a value", diags)
}

func TestReadInputs_MatterToTerraformWithoutConstants(t *testing.T) {
	dir := writeFiles(t, texts{"main.tf": `variable "x" {}`, "terraform.tfvars": "broken"})
	inputs, diags := ReadInputs(t.Context(), dir, InputSources{Arguments: []InputArgument{{Assignment: "y=1"}}})
	if inputs == nil || !diags.HasErrors() {
		t.Errorf("inputs %v with %v", inputs, diags)
	}
	_, diags = LoadModuleWith(dir, asTerraform, Options{Inputs: inputs})
	if len(diags) != 1 || diags[0].Summary != "Value for undeclared variable" {
		t.Errorf("%v", diags)
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
		inputs, _ := ReadInputs(t.Context(), dir, InputSources{Arguments: []InputArgument{{Assignment: argument}}, Environ: []string{"TF_VAR_x=" + argument}})
		module, _ := LoadModuleWith(dir, asTerraform, Options{Inputs: inputs})
		for _, call := range module.Calls {
			LoadModuleWith(dir, asTerraform, Options{Inputs: call.Inputs, Path: "module.m"})
		}
	})
}
