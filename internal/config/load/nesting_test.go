package load

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/must"
)

// deep are texts that make a parser recurse, in the native syntax: the beginning, the repeated part, and the end.
var deep = map[string][3]string{
	"parentheses":  {"a = ", "(", "1"},
	"lists":        {"a = ", "["},
	"objects":      {"a = ", "{a="},
	"blocks":       {"", "a {\n"},
	"not":          {"a = ", "!", "true"},
	"minus":        {"a = ", "-", "1"},
	"sums":         {"a = ", "1+", "1"},
	"lines":        {"a = (\n", "1+\n", "1)"},
	"conditions":   {"a = ", "true?1:", "1"},
	"templates":    {"a = ", `"${`, "1"},
	"ifs":          {`a = "`, "%{if true}", `"`},
	"ifs in lines": {"a = <<E\n", "%{if true}\n", "E\n"},
	"calls":        {"a = ", "f(", "1"},
	"loops":        {"a = ", "[for x in ", "1"},
	"indices":      {"a = b", "[c]"},
	"splats":       {"a = b", "[*]"},
	"old splats":   {"a = b", ".*"},
}

func TestLoadModule_DeepNestingIsAnError(t *testing.T) {
	const levels = static.MaxNesting + 500
	files := texts{
		// The JSON parser's time is quadratic in the depth.
		"lists.tf.json":   strings.Repeat("[", 1001),
		"objects.tf.json": strings.Repeat(`{"a":`, 1001),
	}
	for name, text := range deep {
		files[name+".tf"] = text[0] + strings.Repeat(text[1], levels) + text[2] + "\n"
	}
	for name, text := range files {
		module, diags := LoadModule(writeFiles(t, map[string]string{name: text}), asTerraform)
		if len(diags) != 1 || diags[0].Summary != "Configuration nested too deeply" {
			t.Errorf("%s: got %d diagnostics, the first of them %v", name, len(diags), diags[:min(1, len(diags))])
		}
		must.Equal(t, module.Empty, false, name)
	}
}

func TestLoadModule_DeepNestingInStringsOfJSONIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"import": `{"import":{"id":"x","to":"a_b.c` + strings.Repeat("[d]", 3*static.MaxNesting) + `"}}`,
		"type":   `{"variable":{"x":{"type":"` + strings.Repeat("list(", 3*static.MaxNesting) + `"}}}`,
	} {
		_, diags := LoadModule(writeFiles(t, texts{"main.tf.json": text}), asTerraform)
		must.Equal(t, diags.HasErrors(), true, name)
	}
}

// Long texts with many brackets and operators that are not deep.
func TestLoadModule_LongFilesAreNotDeep(t *testing.T) {
	const n = static.MaxNesting + 500
	files := texts{
		"blocks.tf":      strings.Repeat("variable \"x\" {\n  default = [-1]\n}\n", n),
		"list.tf":        "a = [" + strings.Repeat("-1, [!true], f(x[y]), ", n) + "]\n",
		"object.tf":      "a = {\n" + strings.Repeat("b = -c ? [d] : \"${e}\"\n", n) + "}\n",
		"text.tf":        "a = \"" + strings.Repeat("(-[{!?+", n) + "\"\n",
		"heredoc.tf":     "a = <<E\n" + strings.Repeat("(-[{!?+ ${x}\n", n) + "E\n",
		"comment.tf":     strings.Repeat("# ((((((---------\n", n),
		"array.tf.json":  `{"a":[` + strings.Repeat("[{}],", n) + `1]}`,
		"string.tf.json": `{"a":"` + strings.Repeat(`[{\"`, n) + `"}`,
	}
	for name, text := range files {
		if static.TooDeep([]byte(text), strings.HasSuffix(name, ".json")) {
			t.Errorf("%s is too deep", name)
		}
	}
}

func TestLoadModule_ValuesThatWouldTakeForeverAreErrors(t *testing.T) {
	doubling := `"x"`
	for range 60 {
		doubling = `[for a in [` + doubling + `] : "${a}${a}"][0]`
	}
	entry := func(value string) string {
		return "terraform {\n  required_providers {\n    a = " + value + "\n  }\n}\n"
	}
	for name, file := range map[string]string{
		"number":           entry(`1e999999999`),
		"unknown number":   entry(`1e9999999999`),
		"unknown in text":  entry(`"${1e9999999999}"`),
		"number in text":   entry(`"${1e999999999}"`),
		"number in object": entry(`{ version = "${-1e999999999}" }`),
		"key":              entry(`{ (1e999999999) = "1" }`),
		"loops":            entry(doubling),
		"loops in object":  entry(`{ source = ` + doubling + ` }`),
		"required_version": "terraform {\n  required_version = 1e999999999\n}\n",
		"alias":            "provider \"a\" {\n  alias = 1e999999999\n}\n",
		"version":          "provider \"a\" {\n  version = " + doubling + "\n}\n",
	} {
		_, diags := LoadModule(writeFiles(t, texts{"main.tf": file}), asTerraform)
		must.Equal(t, diags.HasErrors(), true, name)
	}
	_, diags := LoadModule(writeFiles(t, texts{
		"main.tf.json": `{"terraform":{"required_providers":{"a":1e999999999}}}`,
	}), asTerraform)
	if !diags.HasErrors() {
		t.Error("no error in JSON")
	}
	// Expressions that only a plan needs aren't evaluated.
	load(t, texts{
		"main.tf":   "module \"m\" {\n  source = " + doubling + "\n}\nvariable \"d\" {\n  default = " + doubling + "\n}\n",
		"b.tf":      "variable \"t\" {\n  type = object({ a = optional(string, 1e999999999) })\n}\n",
		"c.tf.json": `{"variable":{"j":{"type":"object({ a = optional(string, 1e999999999) })"}}}`,
	})
}

// TestLoadModule_LoopsOfAllFilesHaveOneLimit has files that make 20 MB each: one is fine, and three are too much.
func TestLoadModule_LoopsOfAllFilesHaveOneLimit(t *testing.T) {
	long := strings.Repeat("[for k in [0,1,2,3,4,5,6,7,8,9] : ", 2) + strconv.Quote(strings.Repeat("a", 100_000)) + strings.Repeat("]", 2)
	for n, tooComplex := range map[int]bool{1: false, 3: true} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("%d.tf", i)] = fmt.Sprintf("output \"o%d\" {\n  value     = 1\n  sensitive = %s != null\n}\n", i, long)
		}
		_, diags := LoadModule(writeFiles(t, files), asTerraform)
		must.Equal(t, strings.Contains(diags.Error(), "Expression too complex"), tooComplex, n, diags)
	}
}
