package load

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// inMemory stores outlines in memory, and counts hits.
type inMemory struct {
	contents map[string][]byte
	found    int
}

func (s *inMemory) Get(key string) ([]byte, bool) {
	content, ok := s.contents[key]
	if ok {
		s.found++
	}
	return content, ok
}

func (s *inMemory) Put(key string, content []byte) { s.contents[key] = content }

// said returns all results of a module that other packages use.
func said(dir string, product getproviders.Product, opts Options) string {
	var text strings.Builder
	m, diags := LoadModuleWith(dir, product, opts)
	reqs, problems := m.Requirements()
	tests, _ := m.TestRequirements()
	fmt.Fprintf(&text, "%v\n%v\n%v\n%+v\n%+v\n%t %v\n%v\n%+v\n", diags, m.CheckVersion(), problems, reqs, tests, m.Empty, m.LeftToPlan, slices.Sorted(maps.Keys(m.variables)), m.Inferred())
	for _, call := range m.Calls {
		fmt.Fprintf(&text, "%s %s %s %s %s %v %v\n", call.Name, call.Range, call.Source, call.SourceRange, call.Version, call.Problems(), slices.Sorted(maps.Keys(call.arguments)))
		for _, input := range slices.Sorted(maps.Keys(call.Inputs)) {
			fmt.Fprintf(&text, "  %s %#v\n", input, call.Inputs[input])
		}
		fmt.Fprintf(&text, "%+v %s\n", call.providers, call.repeated)
	}
	for _, u := range m.users {
		fmt.Fprintf(&text, "%v %v %s\n", u.key, u.localName(), u.needed)
	}
	for _, p := range m.providers {
		fmt.Fprintf(&text, "%v %s %t\n", p.providerKey, p.header, p.configured)
	}
	if m.Backend != nil {
		fmt.Fprintf(&text, "%s %s\n", m.Backend.Type, m.Backend.Range)
	}
	return text.String()
}

// TestOutlines_ChangeNothing reads all cases, as a root module and as another one: without stored outlines, with those stored by that run,
// and with damaged ones.
func TestOutlines_ChangeNothing(t *testing.T) {
	t.Parallel()
	kept, found := 0, 0
	for _, m := range readModules(t) {
		for _, name := range m.names() {
			dir := t.TempDir()
			m.unpack(t, name, dir)
			for _, path := range []string{"", "module.m"} {
				opts := Options{Path: path}
				want := said(dir, m.product(), opts)
				s := &inMemory{contents: map[string][]byte{}}
				opts.Outlines, opts.outlineAll = s, true
				for _, run := range []string{"first", "second"} {
					must.Equal(t, said(dir, m.product(), opts), want, m.file, name, path, run)
				}
				kept, found = kept+len(s.contents), found+s.found
				for key, content := range s.contents {
					for _, damage := range [][2]string{{`"End":`, `"End":9`}, {`"Byte":`, `"Byte":-`}, {`"End":`, `"End":0`}, {`{`, `[`}} {
						s.contents[key] = bytes.ReplaceAll(content, []byte(damage[0]), []byte(damage[1]))
						must.Equal(t, said(dir, m.product(), opts), want, m.file, name, path, damage[1])
					}
				}
			}
		}
	}
	if t.Logf("%d outlines", kept); kept < 100 || found < kept {
		t.Errorf("only %d outlines were made, and %d found", kept, found)
	}
}

// TestOutlines_AreForWhatIsTheSame changes parts of a module that an outline doesn't contain.
func TestOutlines_AreForWhatIsTheSame(t *testing.T) {
	t.Parallel()
	const first = "resource \"a_b\" \"c\" {\n  d = local.e\n}\nlocals {\n  e = \"./h\"\n}\noutput \"f\" {\n  value = 1\n}\n"
	product, dir, s := getproviders.OpenTofu("1.12.0"), t.TempDir(), &inMemory{contents: map[string][]byte{}}
	opts := Options{Outlines: s, outlineAll: true}
	read := func(name, text string) string {
		must.Write(t, filepath.Join(dir, name), text)
		module, diags := LoadModuleWith(dir, product, opts)
		must.Len(t, module.users, 1)
		for _, call := range module.Calls {
			must.Equal(t, call.Source, "./h", call.Problems())
		}
		return diags.Error()
	}
	read("main.tf", first)
	must.Len(t, s.contents, 1)
	for _, content := range s.contents {
		must.Equal(t, strings.Count(string(content), "End"), 1, string(content))
	}
	const call = "output \"g\" {\n  value = local.e\n}\nmodule \"h\" {\n  source = local.e\n}\n"
	for range 2 {
		must.Equal(t, read("b.tf", call), hcl.Diagnostics(nil).Error())
		must.Len(t, s.contents, 2)
	}
	must.Equal(t, s.found, 1)
	must.Contain(t, read("b.tf", "output \"f\" {\n  value = 2\n}\n"), "Duplicate output definition")
	must.Contain(t, read("b.tf", strings.Replace(call, "value", "valve", 1)), "Missing required argument")
	must.Len(t, s.contents, 2, "what has problems is kept")
	read("b.tf", call)
	must.Equal(t, read("override.tf", "output \"f\" {\n  value = 2\n}\n"), hcl.Diagnostics(nil).Error())
	opts.outlineAll = false
	read("b.tf", "")
	must.Len(t, s.contents, 2, "what is small is kept")
}
