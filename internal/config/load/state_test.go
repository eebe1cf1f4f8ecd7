package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// stateOf is a state whose resources have these provider addresses.
func stateOf(addresses ...string) string {
	var resources []string
	for i, address := range addresses {
		resources = append(resources, fmt.Sprintf(
			`{"mode":"managed","type":"a_b","name":"r%d","provider":%q,"instances":[{"schema_version":0,"attributes":{"provider":"no","list":[{"a":[]}]}}]}`,
			i, address))
	}
	return `{"version":4,"terraform_version":"1.5.0","serial":1,"lineage":"x","outputs":{},"resources":[` + strings.Join(resources, ",") + `]}`
}

// states are states and the providers in them.
var states = map[string]string{
	// empty file
	"": "",
	// no resources
	`{"version":4}`: "",
	// null resources
	`{"version":4,"resources":null}`: "",
	// one
	stateOf(`provider["registry.terraform.io/hashicorp/a"]`): "registry.terraform.io/hashicorp/a",
	// same twice
	stateOf(`provider["registry.terraform.io/hashicorp/a"]`, `provider["registry.terraform.io/hashicorp/a"].x`): "registry.terraform.io/hashicorp/a",
	// short addresses
	stateOf(`provider["acme/b"]`, `provider["a"]`): "registry.terraform.io/acme/b registry.terraform.io/hashicorp/a",
	// other host
	stateOf(`provider["example.com/acme/b"]`): "example.com/acme/b",
	// alias
	stateOf(`provider["acme/b"].east`): "registry.terraform.io/acme/b",
	// modules
	stateOf(`module.x.provider["acme/a"]`, `module.x.module.y.provider["acme/b"].z`): "registry.terraform.io/acme/a registry.terraform.io/acme/b",
	// legacy
	stateOf(`provider.aws`, `module.x.provider.null.y`, `provider.terraform`): "registry.terraform.io/-/aws registry.terraform.io/-/null terraform.io/builtin/terraform",
	// not addresses
	stateOf(``, `aws`, `provider`, `provider[0]`, `provider["a/b/c/d"]`, `provider["acme/b"].x.y`, `provider["acme/b"]["x"]`, `module.x[0].provider["acme/b"]`,
		`module.x`, `provider.*`, `data.provider["acme/b"]`, `provider["acme/c"]`): "registry.terraform.io/acme/c",
	// no address
	`{"version":4,"resources":[{"mode":"managed","type":"a_b"},{"mode":"data","provider":null}]}`: "",
	// other order
	`{"resources":[{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"acme/b\"]","instances":[{}]}],"version":4}`: "registry.terraform.io/acme/b",
	// other case
	`{"Version":4,"Resources":[{"Mode":"managed","Type":"a_b","Name":"c","Provider":"provider[\"acme/b\"]","Instances":[{}]}]}`: "registry.terraform.io/acme/b",
	// in modules
	`{"version":4,"terraform_version":"","serial":0,"resources":[{"module":"module.a.module.b[\"x\"]","mode":"data","type":"a_b","name":"c","provider":"provider[\"acme/b\"]","instances":[]},` +
		`{"module":"module.a[0]","mode":"managed","type":"a_b","name":"c","provider":"provider[\"acme/c\"]","instances":[]}]}`: "registry.terraform.io/acme/b registry.terraform.io/acme/c",
	// version 3, empty
	`{"version":3,"terraform_version":"0.11.14","serial":1,"lineage":"x","modules":[{"path":["root"],"outputs":{},"resources":{},"depends_on":[]}]}`: "",
	// version 3, no modules
	`{"version":3,"serial":1,"lineage":"x"}`: "",
	// version 3, only outputs
	`{"version":3,"serial":1,"lineage":"x","modules":[{"path":["root"],"outputs":{"a":{"sensitive":false,"type":"string","value":"b"}},"resources":{}}]}`: "",
	// version 3
	`{"version":3,"serial":1,"lineage":"x","modules":[{"path":["root"],"resources":{"aaa_x.y":{"type":"aaa_x","primary":{"id":"1"},"provider":"provider.aaa"}}},` +
		`{"path":["root","m"],"resources":{"data.bbb_x.y.0":{"type":"bbb_x","primary":{"id":"1"},"provider":"module.m.provider.ccc.east"},"ddd_x.y":{"type":"ddd_x","primary":{"id":"1"}}}}]}`: "registry.terraform.io/-/aaa registry.terraform.io/-/ccc registry.terraform.io/-/ddd",
	// version 2, empty
	`{"version":2,"modules":[]}`: "",
	// version 2
	`{"version":2,"modules":[{"path":["root"],"resources":{"aaa_x.y":{"type":"aaa_x","primary":{"id":"1"},"provider":"bbb.east"}}}]}`: "registry.terraform.io/-/bbb",
	// version 1
	`{"version":1,"serial":1,"modules":[{"path":["root"],"outputs":{"a":"b"},"resources":{"aaa_x.y":{"type":"aaa_x","primary":{"id":"1"}}}}]}`: "registry.terraform.io/-/aaa",
	// looks like more
	`{"version":4,"outputs":{"x":{"type":"dynamic","value":{"type":["map","string"],"value":{"resources":"provider[\"acme/b\"]"}},"version":3}}}`: "",
	// instances
	`{"version":4,"resources":[{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"acme/b\"]","instances":[{"index_key":0},{"index_key":"0","status":"tainted","private":"bnVsbA=="},` +
		`{"index_key":0,"deposed":"0123abcd","sensitive_attributes":[[{"type":"get_attr","value":"x"},{"type":"index","value":{"value":1,"type":"number"}}]],` +
		`"dependencies":["data.a.b","module.x[0].a.b","resource.a.b"],"provider":"provider[\"acme/of-opentofu\"]"}]},` +
		`{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"acme/b\"]","instances":[{"index_key":1}]}]}`: "registry.terraform.io/acme/b",
}

func TestReadStateRequirements_AreTheProvidersOfResources(t *testing.T) {
	for text, want := range states {
		path := filepath.Join(writeFiles(t, texts{"terraform.tfstate": text}), "terraform.tfstate")
		reqs := must.Get(StateRequirements(nil, path, asTerraform))(t)
		var got []string
		for _, p := range reqs.Providers() {
			got = append(got, p.String())
			if len(reqs[p]) != 1 || !reqs[p][0].Constraints.IsEmpty() || reqs[p][0].Pos != (getproviders.Pos{File: path}) {
				t.Errorf("%s: %s is required as %v", text, p, reqs[p])
			}
		}
		must.Equal(t, strings.Join(got, " "), want, text)
	}
}

func TestReadStateRequirements_TerraformSeesTheSameProvidersInStates(t *testing.T) {
	peer := newPeer(t, "terraform")
	for text, want := range states {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, text)
			dir := writeFiles(t, texts{"main.tf": "", "terraform.tfstate": text})
			var got []string
			for line := range strings.Lines(peer.run(t, dir, "providers", "-no-color")) {
				if match := requirementLine.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
					got = append(got, match[1])
				}
			}
			slices.Sort(got)
			must.Equal(t, strings.Join(got, " "), want, text)
		})
	}
}

func TestReadStateRequirements_MissingStateIsNoRequirements(t *testing.T) {
	must.Len(t, must.Get(StateRequirements(nil, filepath.Join(t.TempDir(), "terraform.tfstate"), asTerraform))(t), 0)
}

func TestReadStateRequirements_BrokenStatesAreErrors(t *testing.T) {
	for ofTheVersion, texts := range map[bool]map[string]string{true: {
		"no version":              `{}`,
		"version is a string":     `{"version":"4"}`,
		"version with fraction":   `{"version":4.0}`,
		"negative version":        `{"version":-4}`,
		"version of Terraform 1?": `{"version":5}`,
		"version 0":               `{"version":0}`,
		"huge version":            `{"version":40000000000000000000000000}`,
	}, false: {
		"a newline":                      "\n",
		"not JSON":                       "resources",
		"not an object":                  `[]`,
		"a number":                       `4`,
		"cut off at a name":              `{"version":4,"resources"`,
		"cut off in resources":           `{"version":4,"resources":[{"type":"x"`,
		"cut off in a value":             `{"version":4,"outputs":{"x":[`,
		"cut off before the end":         `{"version":4`,
		"more than one":                  `{"version":4}{"version":4}`,
		"rubbish behind":                 `{"version":4} x`,
		"resources in object":            `{"version":4,"resources":{}}`,
		"resource is a number":           `{"version":4,"resources":[4]}`,
		"provider is a number":           `{"version":4,"resources":[{"provider":4}]}`,
		"no such mode":                   `{"version":4,"resources":[{"mode":"x","type":"a_b","name":"c"}]}`,
		"no mode":                        `{"version":4,"resources":[{"type":"a_b","name":"c"}]}`,
		"no such module":                 `{"version":4,"resources":[{"module":"x","mode":"data"}]}`,
		"module without a name":          `{"version":4,"resources":[{"module":"module","mode":"data"}]}`,
		"module and more":                `{"version":4,"resources":[{"module":"module.a.b","mode":"data"}]}`,
		"version of Terraform":           `{"version":4,"terraform_version":"x"}`,
		"version is a list":              `{"version":4,"terraform_version":[1,{}]}`,
		"negative serial":                `{"version":4,"serial":-1}`,
		"serial is text":                 `{"serial":"1","version":4}`,
		"modules are an object":          `{"version":3,"modules":{}}`,
		"module is a number":             `{"version":3,"modules":[1]}`,
		"resources of a module":          `{"version":3,"modules":[{"resources":[]}]}`,
		"resource of a module":           `{"version":3,"modules":[{"resources":{"a":1}}]}`,
		"cut off in modules":             `{"version":3,"modules":[{"resources":{"a":{`,
		"an instance twice":              `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"index_key":1},{"index_key":1.5}]}]}`,
		"an instance without keys twice": `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{},{}]}]}`,
		"a deposed object twice":         `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"deposed":"01234567"},{"deposed":"01234567"}]}]}`,
		"a short deposed key":            `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"deposed":"0"}]}]}`,
		"a key of an instance":           `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"index_key":true}]}]}`,
		"a status":                       `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"status":"x"}]}]}`,
		"a schema's version":             `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"schema_version":-1}]}]}`,
		"an identity's version":          `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"identity_schema_version":"1"}]}]}`,
		"private data":                   `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"private":"!"}]}]}`,
		"a path of an attribute":         `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"sensitive_attributes":[[{"type":"x"}]]}]}]}`,
		"an attribute without a name":    `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"sensitive_attributes":[[{"type":"get_attr","value":1}]]}]}]}`,
		"paths of attributes, twice":     `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"sensitive_attributes":[[{"type":"get_attr","value":"a"}]],"sensitive_attributes":[[{}]]}]}]}`,
		"paths of attributes":            `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"sensitive_attributes":{}}]}]}`,
		"a dependency":                   `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"dependencies":["x"]}]}]}`,
		"a dependency on an instance":    `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"dependencies":["a.b[0]"]}]}]}`,
		"attributes of Terraform 0.11":   `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"attributes_flat":{"a":1}}]}]}`,
		"dependencies":                   `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"dependencies":"a.b"}]}]}`,
		"when it is replaced":            `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{"create_before_destroy":1}]}]}`,
		"a resource twice":               `{"version":4,"resources":[{"mode":"data","type":"a_b","name":"c","instances":[{}]},{"mode":"data","type":"a_b","name":"c","instances":[{}]}]}`,
		"an output's type":               `{"version":4,"outputs":{"x":{"type":"x","value":1}}}`,
		"an output's value":              `{"version":4,"outputs":{"x":{"type":"number","value":"x"}}}`,
		"an output without a type":       `{"version":4,"outputs":{"x":{"value":1}}}`,
		"an output":                      `{"version":4,"outputs":{"x":1}}`,
		"outputs":                        `{"version":4,"outputs":[]}`,
		"lineage is a number":            `{"version":4,"lineage":1}`,
	}} {
		for name, text := range texts {
			path := filepath.Join(t.TempDir(), "my.tfstate")
			must.Write(t, path, text)
			_, err := StateRequirements(nil, path, asTerraform)
			must.Equal(t, errors.Is(err, ErrStateVersion), ofTheVersion, name)
			must.Contain(t, err, path, name)
		}
	}
}

func TestReadStateRequirements_StatesAreReadInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 50 MB")
	}
	const size, budget = 50 << 20, 4 << 20
	resource := `{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"acme/b\"]","instances":[` +
		strings.Repeat(`{"schema_version":0,"index_key":%d,"attributes":{"text":"`+strings.Repeat("x", 1000)+`","list":[1,true,null]},"dependencies":["a.b"]},`, 100) + `{"index_key":""}]},`
	meter := &memoryMeter{next: numbered(resource, size/len(resource))}
	state := io.MultiReader(strings.NewReader(`{"version":4,"resources":[`), meter, strings.NewReader(`{"mode":"data"}]}`))
	before := heap()
	must.Len(t, must.Get(ReadStateRequirements(state, "state", asTerraform))(t), 1)
	if used := int64(meter.peak) - int64(before); used > budget {
		t.Errorf("needed %d bytes for a state of %d", used, size)
	}
}

// memoryMeter notes how much memory is in use while it is read.
type memoryMeter struct {
	next  func() (string, bool)
	rest  string
	reads int
	peak  uint64
}

func (m *memoryMeter) Read(p []byte) (int, error) {
	if m.reads++; m.reads%1000 == 0 {
		m.peak = max(m.peak, heap())
	}
	for m.rest == "" {
		var ok bool
		if m.rest, ok = m.next(); !ok {
			return 0, io.EOF
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// numbered repeats a resource with new numbers in its name and in its instances' keys.
func numbered(resource string, times int) func() (string, bool) {
	n := 0
	return func() (string, bool) {
		times--
		parts := strings.Split(strings.Replace(resource, `"c"`, fmt.Sprintf(`"c%d"`, times), 1), "%d")
		var text strings.Builder
		for i, part := range parts {
			if i > 0 {
				n++
				fmt.Fprint(&text, n)
			}
			text.WriteString(part)
		}
		return text.String(), times >= 0
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func FuzzStateRequirements(f *testing.F) {
	for text := range states {
		f.Add(text)
	}
	f.Add(`{"version":4,"resources":[{"provider":"module.x[*].provider[\"a\"]"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "terraform.tfstate")
		must.Write(t, path, text)
		reqs, err := StateRequirements(nil, path, asTerraform)
		if err != nil && len(reqs) > 0 {
			t.Errorf("both %v and %v", reqs, err)
		}
		for p := range reqs {
			if again, err := asTerraform.ParseProvider(p.String()); again != p && !p.IsBuiltIn() {
				t.Errorf("%v is read back as %v, %v", p, again, err)
			}
		}
	})
}

func TestReadStateRequirements_WaitForNoPipe(t *testing.T) {
	for name, path := range map[string]string{"a directory": t.TempDir(), "a device": os.DevNull} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && path == os.DevNull {
				t.Skip("NUL has no entry in any directory")
			}
			_, err := StateRequirements(nil, path, asTerraform)
			must.Contain(t, err, "not a regular file")
			must.Contain(t, err, path)
		})
	}
}

func TestReadStateRequirements_NameTheSource(t *testing.T) {
	reqs := must.Get(ReadStateRequirements(strings.NewReader(stateOf(`provider["acme/b"]`)), "standard input", asTerraform))(t)
	for _, p := range reqs.Providers() {
		must.Equal(t, reqs[p][0].Pos, (getproviders.Pos{File: "standard input"}))
	}
	must.Contain(t, must.ErrorOf(ReadStateRequirements(strings.NewReader("{"), "standard input", asTerraform)), "standard input")
}
