package backend_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestDecode_ReadsFilesOfOverrides(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "a.hcl"), "path = \"from file\"\n")
	must.Write(t, filepath.Join(dir, "b.json"), `{"workspace_dir": "from ${json}"}`)
	must.Write(t, filepath.Join(dir, "bad.hcl"), "nope = 1\n")
	config := decode(t, `backend "local" { path = "x" }`, filepath.Join(dir, "a.hcl"), filepath.Join(dir, "b.json"))
	if path, workspaces := config.Text("path"), config.Text("workspace_dir"); path != "from file" || workspaces != "from ${json}" {
		t.Errorf("got %q and %q", path, workspaces)
	}
	_, diags := backend.Decode(t.Context(), parseBlock(t, `backend "local" {}`),
		backend.Options{Product: asTerraform, Overrides: []string{filepath.Join(dir, "bad.hcl")}})
	if got, want := diags.Error(), "In "+filepath.Join(dir, "bad.hcl")+", line 1: "; summaries(diags) != "Unsupported argument" || !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Problems in a given file are reported without its lines, which may contain secrets.
func TestDecode_DoesntQuoteFilesOfOverrides(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	for content, want := range map[string]string{
		"password = hunter2":            "Variables not allowed",
		"password = \"hunter2":          "Unterminated template string",
		"hunter2":                       "Argument or block definition required",
		`{"password": hunter2}`:         "Invalid JSON keyword",
		`{"retry_max": "hunter2"}`:      "Incorrect attribute value type",
		`{"password": ["hunter2"]}`:     "Incorrect attribute value type",
		"password = [\"hunter2\"]":      "Incorrect attribute value type",
		"password \"hunter2\" {\n}":     "Unsupported block type",
		"password = upper(\"hunter2\")": "Function calls not allowed",
	} {
		path := path
		if !strings.HasPrefix(content, "{") {
			path = strings.TrimSuffix(path, ".json")
		}
		must.Write(t, path, content)
		_, diags := backend.Decode(t.Context(), parseBlock(t, `backend "http" {}`), backend.Options{Product: asTerraform, Overrides: []string{path}})
		if !diags.HasErrors() || diags[0].Summary != want {
			t.Errorf("%s: got %v, want %q", content, diags, want)
		}
		for _, diag := range diags {
			if diag.Subject != nil || diag.Expression != nil || strings.Contains(diag.Detail, "hunter2") {
				t.Errorf("%s: it may be quoted: %+v", content, diag)
			}
		}
	}
}

// A record is JSON, which can only contain UTF-8: for any other value, each run would report a
// changed configuration.
func TestDecode_RefusesOverridesThatAreNotUTF8(t *testing.T) {
	_, diags := backend.Decode(t.Context(), parseBlock(t, `backend "local" {}`),
		backend.Options{Product: asTerraform, Overrides: []string{"path=hunter2\x94"}})
	if got := diags.Error(); !strings.Contains(got, `The value that -backend-config gives for "path" is not valid UTF-8.`) || strings.Contains(got, "hunter2") {
		t.Errorf("got %q", got)
	}
}
