package load

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// loadTree loads the modules that are given by their paths, and links them.
func loadTree(t *testing.T, product getproviders.Product, sources map[string]string) (links []Link) {
	t.Helper()
	root := t.TempDir()
	loaded := map[string]*Module{}
	for path, source := range sources {
		dir := filepath.Join(root, strings.ReplaceAll(path, ".", "-"))
		must.Write(t, filepath.Join(dir, "main.tf"), source)
		module, diags := LoadModuleWith(dir, product, Options{Path: path, Source: "./x"})
		must.Len(t, diags, 0)
		loaded[path] = module
	}
	waiting := []string{""}
	for len(waiting) > 0 {
		caller := loaded[waiting[0]]
		waiting = waiting[1:]
		for _, call := range caller.Calls {
			path := strings.TrimPrefix(caller.Path+".module."+call.Name, ".")
			links = append(links, Link{Caller: caller, Call: call, Module: loaded[path]})
			waiting = append(waiting, path)
		}
	}
	return links
}

// found returns problems with their lines, sorted.
func found(diags hcl.Diagnostics) (lines []string) {
	for _, d := range diags {
		severity := "error"
		if d.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		lines = append(lines, fmt.Sprintf("%s %d: %s", severity, d.Subject.Start.Line, d.Summary))
	}
	slices.Sort(lines)
	return lines
}

// require is required_providers with one provider, which has seven lines.
func require(more string) string {
	return "terraform {\n  required_providers {\n    a = {\n      source = \"x/a\"\n" + more + "\n    }\n  }\n}\n"
}

// call is a call of a module, on whose fifth line its providers are passed.
func call(name, passed string) string {
	return "module \"" + name + "\" {\n  source = \"./" + name + "\"\n\n  providers = {\n    " + passed + "\n  }\n}\n"
}

func TestCheckProviders_FindsWhatDoesNotFit(t *testing.T) {
	requires, wants := require(""), require("configuration_aliases = [a.one]")
	for _, c := range []struct {
		name    string
		modules map[string]string
		want    string // with bars between several
	}{
		{"nothing", map[string]string{"": ""}, ""},
		{"wanted", map[string]string{"": call("a", ""), "module.a": wants},
			"error 1: Missing required provider configuration"},
		{"wanted and passed", map[string]string{"": requires + call("a", "a.one = a"), "module.a": wants}, ""},
		{"passed on", map[string]string{"": call("m", ""), "module.m": requires + call("a", "a.one = a"), "module.m.module.a": wants},
			"warning 1: Missing required provider configuration"},
		{"configured and passed", map[string]string{"": requires + call("a", "a = a"), "module.a": requires + "provider \"a\" {\n  b = 1\n}\n"},
			"error 13: Cannot override provider configuration"},
		{"of another provider", map[string]string{"": "provider \"b\" {\n  x = 1\n}\n" + call("a", "a = b"), "module.a": requires},
			"error 8: Provider type mismatch"},
		{"not required", map[string]string{"": call("a", "a = a"), "module.a": ""},
			"warning 5: Reference to undefined provider|warning 5: Reference to undefined provider"},
		{"empty blocks", map[string]string{"": call("a", ""), "module.a": "provider \"a\" {}\nprovider \"a\" {\n  alias = \"x\"\n}\nprovider \"b\" {\n  _ {}\n}\n"},
			"warning 1: Redundant empty provider block|warning 5: Redundant empty provider block"},
		{"counted above", map[string]string{"": "module \"m\" {\n  source = \"./m\"\n  count = 2\n}\n", "module.m": call("a", ""), "module.m.module.a": "provider \"a\" {\n  x {}\n}\n"},
			"error 3: Module is incompatible with count, for_each, and depends_on"},
		{"nearest repetition", map[string]string{"": "module \"m\" {\n  source = \"./m\"\n  count = 2\n}\n",
			"module.m": "module \"a\" {\n  source = \"./a\"\n\n  depends_on = [a_b.c]\n}\n", "module.m.module.a": "provider \"a\" {\n  x = 1\n}\n"},
			"error 4: Module is incompatible with count, for_each, and depends_on"},
	} {
		product := getproviders.Terraform(productVersion)
		must.Equal(t, strings.Join(found(CheckProviders(loadTree(t, product, c.modules))), "|"), c.want, c.name)
	}
}
