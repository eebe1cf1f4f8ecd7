package load

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLanguage_IsWellFormed reads each line of the table: a kind that no code checks is misspelt.
func TestLanguage_IsWellFormed(t *testing.T) {
	t.Parallel()
	byCode := []string{"any", "refused", "word", "events", "rule", "block", "form", "body", "condition", "refused-block"}
	blocks := map[string]bool{"file": true, "testfile": true}
	ins := map[string]bool{}
	for line := range strings.Lines(languageTable) {
		if in, _, ok := strings.Cut(line, " "); ok && in != "#" {
			for in := range strings.SplitSeq(in, ",") {
				ins[in] = true
			}
		}
	}
	for in := range ins {
		for _, r := range rowsOf(in) {
			d := &document{grammar: newGrammar(dialect.Of(asTerraform))}
			expr, _ := hclsyntax.ParseExpression([]byte("[nothing(1)]"), "", hcl.InitialPos) // which no kind allows
			if d.checkKind(&hcl.Attribute{Name: r.name, Expr: expr}, r); len(d.found.diags) == 0 && !slices.Contains(byCode, r.kind) {
				t.Errorf("%s %s: there is no kind %q", in, r.name, r.kind)
			}
			if len(r.labels) > 0 && !r.block && r.kind != "word" || r.once && !r.block || r.required && r.block {
				t.Errorf("%s %s: %+v", in, r.name, r)
			}
			blocks[r.name] = true
		}
	}
	for in := range ins {
		parts := strings.Split(in, ".")
		if last := parts[len(parts)-1]; !blocks[last] && !slices.Contains([]string{"event", "mock_file", "condition"}, last) {
			t.Errorf("there is no block %q for its lines", in)
		}
	}
}

func TestGrammar_FollowsTheVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		product  getproviders.Product
		in, name string
		want     bool
	}{
		{asTerraform, "resource.lifecycle", "destroy", false},
		{getproviders.Terraform("1.16.0-rc2"), "resource.lifecycle", "destroy", true},
		{getproviders.Terraform(""), "resource.lifecycle", "destroy", true},
		{getproviders.Terraform("dev"), "resource.lifecycle", "destroy", true},
		{getproviders.OpenTofu("1.11.9"), "resource.lifecycle", "destroy", false},
		{getproviders.OpenTofu("1.12.0"), "resource.lifecycle", "destroy", true},
		{getproviders.OpenTofu("1.13.0"), "file", "action", false},
	} {
		must.Equal(t, newGrammar(dialect.Of(c.product)).holds(c.in, c.name), c.want, c.product.Name, c.product.Version, c.name, c.in)
	}
	for product, newer := range map[getproviders.Product]bool{
		getproviders.Terraform(""): false, getproviders.Terraform("1.16.9"): false, getproviders.Terraform("1.17.0-alpha1"): true, getproviders.Terraform("2.0.0"): true,
		getproviders.OpenTofu("1.12.9"): false, getproviders.OpenTofu("1.13.0"): true,
	} {
		must.Equal(t, newGrammar(dialect.Of(product)).newer, newer, product.Name, product.Version)
	}
}

// Import blocks are allowed in modules since Terraform 1.16. The providers of their targets are
// required.
func TestLoadModule_ImportsInModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), "import {\n  to = a_b.c\n  id = \"x\"\n}\n")
	for product, want := range map[*getproviders.Product]string{
		new(asTerraform):                      "Invalid import configuration",
		new(getproviders.Terraform("1.16.0")): "",
		new(asOpenTofu):                       "Invalid import configuration",
	} {
		module, diags := LoadModuleWith(dir, *product, Options{Path: "module.m"})
		checkProblem(t, diags, want)
		if reqs, _ := module.Requirements(); len(reqs) != 1 {
			t.Errorf("%s %s: %v", product.Name, product.Version, reqs)
		}
	}
}

// TestLoadModule_NamesAllWordsOfAnArgument has one that may be three words.
func TestLoadModule_NamesAllWordsOfAnArgument(t *testing.T) {
	t.Parallel()
	buffers := fstest.MapFS{"main.tf": {Data: []byte("resource \"a_b\" \"c\" {\n  lifecycle {\n    action_trigger {\n      events     = [before_create]\n      actions    = [action.a_b.c]\n      on_failure = stop\n    }\n  }\n}\n")}}
	_, diags := LoadModuleWith(".", getproviders.Terraform("1.16.0"), Options{FS: buffers})
	must.Len(t, diags, 1)
	must.Contain(t, diags[0].Detail, "halt or taint or continue")
}
