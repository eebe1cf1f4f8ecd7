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
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// spec returns a schema for hcldec, the oracle for decoded bodies.
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

// allSchemas returns those of both products, and one with every kind of block.
func allSchemas(tb testing.TB) (all []*schema) {
	tb.Helper()
	types := map[string]valueType{}
	for name, word := range map[string]string{"a": "string!", "b": "any", "c": "list(string)", "d": "number"} {
		t := valueType{}
		must.Succeed(tb, t.parse(word))
		types[name] = t
	}
	typed := maps.Clone(types)
	delete(typed, "b")
	nested := func(set, list bool) *schema {
		s := &schema{Attributes: types, Set: set, List: list, Blocks: map[string]*schema{"n": {Attributes: typed}}}
		if set || list {
			s.Attributes = typed
		}
		return s
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
		"set {\n d = 1\n}\nset {\n a = \"x\"\n}\nset {\n a = local.x\n}\n", "list {\n c = [1]\n}\nlist {\n d = \"2\"\n n {\n a = []\n }\n}\n", "list {\n a = null\n}\nlist {\n c = 1\n}\n",
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
		want, wantDiags := hcldec.Decode(file.Body, s.spec(), nil)
		if !got.RawEquals(want) || got.Hash() != want.Hash() {
			t.Errorf("got %#v, hcldec has %#v", got, want)
		}
		if got, want := summaries(gotDiags), summaries(wantDiags); !slices.Equal(got, want) {
			t.Errorf("got %q, hcldec has %q", got, want)
		}
	})
}

// A repeatable block has no argument of type any: decodeAll makes one list or set of all.
func TestSchema_RepeatedBlocksHaveOneType(t *testing.T) {
	var check func(s *schema, repeated bool)
	check = func(s *schema, repeated bool) {
		for name, nested := range s.Blocks {
			check(nested, repeated || nested.Set || nested.List)
			if (repeated || nested.Set || nested.List) && nested.valueType().HasDynamicTypes() {
				t.Errorf("a block %q may be repeated, and has arguments of any type", name)
			}
		}
	}
	for _, s := range allSchemas(t) {
		check(s, false)
	}
}

// summaries are sorted, and have no suggestions: hcldec iterates over maps, so its choice among
// equally similar names varies.
func summaries(diags hcl.Diagnostics) (all []string) {
	for _, diag := range diags {
		detail, _, _ := strings.Cut(diag.Detail, " Did you mean")
		all = append(all, diag.Summary+": "+detail)
	}
	return slices.Sorted(slices.Values(all))
}
