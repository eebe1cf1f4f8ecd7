package backend

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// spec is a schema for hcldec, the oracle of what bodies are decoded to.
func (s *schema) spec() hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	for name, attr := range s.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attr.cty}
	}
	for name, nested := range s.Blocks {
		switch {
		case nested.Set:
			spec[name] = &hcldec.BlockSetSpec{TypeName: name, Nested: nested.spec()}
		case nested.List:
			spec[name] = &hcldec.BlockListSpec{TypeName: name, Nested: nested.spec()}
		default:
			spec[name] = &hcldec.BlockSpec{TypeName: name, Nested: nested.spec()}
		}
	}
	return spec
}

// allSchemas are those of both products, and one with every sort of block.
func allSchemas(tb testing.TB) (all []*schema) {
	tb.Helper()
	types := map[string]valueType{}
	for name, word := range map[string]string{"a": "string!", "b": "any", "c": "list(string)", "d": "number"} {
		t := valueType{}
		must.Succeed(tb, t.parse(word))
		types[name] = t
	}
	nested := func(set, list bool) *schema {
		return &schema{Attributes: types, Set: set, List: list, Blocks: map[string]*schema{"n": {Attributes: types}}}
	}
	all = []*schema{{Attributes: types, Blocks: map[string]*schema{"one": nested(false, false), "set": nested(true, false), "list": nested(false, true), "none": {}}}}
	for _, product := range []getproviders.Product{getproviders.Terraform("1.15.9"), getproviders.OpenTofu("1.12.6")} {
		table := must.Get(table(product))(tb)
		for _, name := range slices.Sorted(maps.Keys(table)) {
			all = append(all, table[name])
		}
	}
	return all
}

func TestSchema_HasTheTypeThatHcldecHas(t *testing.T) {
	for i, s := range allSchemas(t) {
		if want := hcldec.ImpliedType(s.spec()).WithoutOptionalAttributesDeep(); !s.valueType().Equals(want) {
			t.Errorf("%d: got %#v, want %#v", i, s.valueType(), want)
		}
	}
}

func FuzzSchema_DecodesAsHcldecDoes(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1\nb = [1, \"x\"]\nc = [true]\nd = \"2\"\n", "a = []\nd = \"x\"\nc = null\nz = 1\n",
		"one {\n a = 1\n n {\n  b = {}\n }\n}\none {\n}\none {\n}\nnone {\n}\n",
		"set {\n b = 1\n}\nset {\n b = \"x\"\n}\nset {\n b = \"x\"\n a = local.x\n}\n",
		"list {\n b = {x = 1}\n}\nlist {\n b = []\n}\n", "list {\n b = \"1\"\n}\nlist {\n b = 2\n n {\n a = []\n }\n}\n", "list {\n b = \"x\"\n}\nlist {\n b = null\n}\n",
		"path = \"a\"\n", "bucket = 1\nassume_role {\n role_arn = [] \n}\n", "assume_role = { tags = { a = 1 } }\nendpoints = {s3 = 1}\n",
		"exec {\n}\nlabels = {}\nhostname = \"h\"\nworkspaces {\n name = \"n\"\n tags = [\"a\"]\n}\n", "workspaces {\n prefix = 1\n}\nworkspaces {\n}\n",
		`{"a": 1, "one": [{"a": "${1}"}, {}], "set": {"b": true}, "workspaces": {"tags": ["x"]}}`,
	} {
		for i := range 30 {
			f.Add(i, seed)
		}
	}
	all := allSchemas(f)
	f.Fuzz(func(t *testing.T, i int, src string) {
		s := all[uint(i)%uint(len(all))]
		file, diags := hclsyntax.ParseConfig([]byte(src), "test.hcl", hcl.InitialPos)
		if len(src) > 0 && src[0] == '{' {
			file, diags = json.Parse([]byte(src), "test.json")
		}
		if diags.HasErrors() {
			return
		}
		got, gotDiags := s.decode(file.Body, nil)
		want, wantDiags, panics := hcldecDecode(file.Body, s.spec())
		if panics {
			if !gotDiags.HasErrors() {
				t.Errorf("hcldec panics, and got %#v without an error", got)
			}
			return
		}
		if !got.RawEquals(want) || got.Hash() != want.Hash() {
			t.Errorf("got %#v, hcldec has %#v", got, want)
		}
		if got, want := summaries(gotDiags), summaries(wantDiags); !slices.Equal(got, want) {
			t.Errorf("got %q, hcldec has %q", got, want)
		}
	})
}

// hcldecDecode reports whether hcldec panics: it does where blocks have arguments of any type that go-cty
// finds a common type for, but no conversion to it.
func hcldecDecode(body hcl.Body, spec hcldec.Spec) (value cty.Value, diags hcl.Diagnostics, panics bool) {
	defer func() { panics = recover() != nil }()
	value, diags = hcldec.Decode(body, spec, nil)
	return value, diags, false
}

// summaries are sorted, and without what may have been meant: hcldec goes over maps, and so
// proposes now one name and now another that is as close.
func summaries(diags hcl.Diagnostics) (all []string) {
	for _, diag := range diags {
		detail, _, _ := strings.Cut(diag.Detail, " Did you mean")
		all = append(all, diag.Summary+": "+detail)
	}
	return slices.Sorted(slices.Values(all))
}
