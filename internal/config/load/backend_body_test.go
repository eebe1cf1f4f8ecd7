package load

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLoadBody has names of files, a space, and their contents.
func TestLoadBody(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"a.hcl path = \"x\"\nblock {\n}\n":                 "",
		`backend.conf path = "x"`:                          "", // any name
		`a.json {"path": "x"}`:                             "",
		"empty ":                                           "",
		"bom.hcl \ufeffpath = \"x\"":                       "", // a mark of byte order
		"b.hcl path = ":                                    "Missing expression",
		`c.hcl {"path": "x"}`:                              "Argument or block definition required", // JSON under another name
		`d.hcl path = [for x in ["a"]: x]`:                 "",
		"e.hcl block {\n  path = [for x in [\"a\"]: x]\n}": "",
		"f.hcl path = " + strings.Repeat("9", 20000):       "Unsuitable value type",
		`n.json {"path": 1e600000000}`:                     "Unsuitable value type",
		`s.json {"block": [{"list": [-1e-600000000]}]}`:    "Unsuitable value type",
		"g.hcl path = " + strings.Repeat("[", 20000):       "Configuration nested too deeply",
	} {
		name, content, _ := strings.Cut(text, " ")
		path := filepath.Join(dir, name)
		must.Write(t, path, content)
		file, diags := LoadBody(t.Context(), path)
		checkProblem(t, diags, want, name)
		must.Equal(t, file == nil && want == "", false, name)
	}
	_, diags := LoadBody(t.Context(), filepath.Join(dir, "none"))
	checkProblem(t, diags, "Failed to read file")
	if file, diags := LoadBody(t.Context(), dir); file != nil || !diags.HasErrors() {
		t.Errorf("a directory: got %v, %v", file, diags)
	}
}

func TestParseArgument(t *testing.T) {
	for text, want := range map[string]string{
		`"x"`:                      "",
		`["a", 1, { b = null }]`:   "",
		`x`:                        "", // the caller that evaluates the body reports that there are no variables
		``:                         "Missing expression",
		`[1`:                       "Unterminated tuple constructor expression",
		`1 2`:                      "Extra characters after expression",
		`[for x in ["a"]: x]`:      "",
		strings.Repeat("9", 20000): "Unsuitable value type",
		"1e999999999":              "Unsuitable value type",
		strings.Repeat("[", 20000): "Value nested too deeply",
	} {
		expr, diags := static.ParseArgument(text, "-backend-config")
		if len(text) > 40 {
			text = text[:40] + "..."
		}
		must.Equal(t, expr == nil, diags.HasErrors(), text, expr, diags)
		checkProblem(t, diags, want, text)
		for _, diag := range diags {
			if diag.Subject != nil && diag.Subject.Filename != "-backend-config" {
				t.Errorf("%s: the place is %s", text, diag.Subject)
			}
		}
	}
}

func FuzzParseArgument(f *testing.F) {
	for _, seed := range []string{`["a"]`, `{a="b"}`, "<<E\nx\nE\n", `"${1+1}"`, `1e999`, `[for`, "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if expr, _ := static.ParseArgument(text, "x"); expr != nil {
			_, _ = expr.Value(nil)
		}
	})
}
