package result

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

var (
	alpha   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "alpha"}
	beta    = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "beta"}
	gamma   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "gamma"}
	builtIn = getproviders.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"}
)

// asked is a requirement at a place in a file.
func asked(constraints, module, file string, line int) getproviders.Requirement {
	return getproviders.Requirement{
		Constraints: getproviders.MustParseConstraints(constraints),
		Pos:         getproviders.Pos{Module: module, File: file, Line: line},
	}
}

func TestProvidersReport_Text(t *testing.T) {
	required := func(constraints string, providers ...getproviders.Provider) getproviders.Requirements {
		req := getproviders.Requirements{}
		for _, p := range providers {
			req.Add(p, asked(constraints, "", "main.tf", 1))
		}
		return req
	}
	twice := getproviders.Requirements{alpha: {asked(">= 1.0", "", "main.tf", 1), asked("< 2.0", "", "main.tf", 9)}}
	tests := []struct {
		name   string
		report ProvidersReport
		want   string // with ~ for the non-breaking spaces
	}{
		{
			"nothing", ProvidersReport{Modules: []ModuleProviders{{}}}, `
Providers required by configuration:
.

`,
		},
		{
			"the root module", ProvidersReport{Modules: []ModuleProviders{{Required: twice.Merge(required("", beta, builtIn))}}}, `
Providers required by configuration:
.
├── provider[example.com/acme/alpha] >= 1.0.0, < 2.0.0
├── provider[example.com/acme/beta]
└── provider[terraform.io/builtin/terraform]

`,
		},
		{
			"modules, tests and a state",
			ProvidersReport{
				Modules: []ModuleProviders{
					{Required: required("", alpha)},
					{Path: "module.a", Required: required("1.0.0", beta)},
					{Path: "module.a.module.b", Required: required("", gamma)},
					{Path: "module.c"},
					{Path: "test.tests.net.setup", Required: required("", gamma)},
					{Path: "test.tests.net.setup.module.x", Required: required("", beta)},
				},
				Tests: []string{"test.other", "test.tests.net"},
				State: required("", beta, alpha),
			}, `
Providers required by configuration:
.
├── provider[example.com/acme/alpha]
├── test.other
├── test.tests.net
│~~ └── run.setup
│~~     ├── provider[example.com/acme/gamma]
│~~     └── module.x
│~~         └── provider[example.com/acme/beta]
├── module.a
│~~ ├── provider[example.com/acme/beta] 1.0.0
│~~ └── module.b
│~~     └── provider[example.com/acme/gamma]
└── module.c

Providers required by state:

    provider[example.com/acme/alpha]

    provider[example.com/acme/beta]

`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			must.Equal(t, strings.ReplaceAll(tt.report.Text(), "\u00a0", "~"), tt.want)
		})
	}
}

func TestProvidersReport_ModulesAreBelowTheirCallers(t *testing.T) {
	known := map[string]bool{"": true, "module.a": true, "module.test.module.b": true, "test.b": false, "test.module": false, "test.b.module": true, "test.b.run": true}
	for path, want := range map[string][2]string{
		"module.x":                      {"", "module.x"},
		"module.module":                 {"", "module.module"},
		"module.a.module.b":             {"module.a", "module.b"},
		"module.test.module.b.module.c": {"module.test.module.b", "module.c"},
		"test.b.run":                    {"test.b", "run.run"},
		"test.b.run.module.x":           {"test.b.run", "module.x"},
		"test.module.run":               {"test.module", "run.run"},
		"test.b.module":                 {"test.b", "run.module"},
		"test.b.module.module.x":        {"test.b.module", "module.x"},
		"what.nobody.knows":             {"", "what.nobody.knows"},
	} {
		if parent, label := splitPath(path, known); parent != want[0] || label != want[1] {
			t.Errorf("%s: %q below %q, want %q", path, label, parent, want)
		}
	}
}

func TestProvidersReport_JSON(t *testing.T) {
	report := ProvidersReport{
		Modules: []ModuleProviders{
			{Dir: ".", Required: getproviders.Requirements{builtIn: {asked("", "", "main.tf", 2)}}},
			{Path: "test.t.r", Key: "test.t.r", Source: "./m", Dir: "m", Call: &ModuleCall{File: "t.tftest.hcl", Line: 3}},
			{Path: "test.t.r.module.x", Key: "test.t.r.x", Source: "example.com/a/b/c", Version: "1.2.3", Dir: "x",
				Call: &ModuleCall{File: "m/main.tf", Line: 1, Version: "~> 1.0"}},
		},
		Tests:  []string{"test.t"},
		State:  getproviders.Requirements{alpha: {{}}},
		Locked: map[getproviders.Provider]LockedVersion{alpha: {Version: getproviders.MustParseVersion("1.0.0")}},
	}
	var out bytes.Buffer
	must.Succeed(t, Write(&out, report, true, Run{}))
	var got struct {
		Format  string `json:"format_version"`
		Modules []struct {
			Path, Source, Version string
			Parent                *string
			Call                  *struct {
				File        string
				Line        int
				Constraints string `json:"version_constraints"`
			}
		}
		State     *struct{ Providers []string }
		Providers []struct {
			Address string
			BuiltIn bool `json:"built_in"`
			Locked  *struct{ Version string }
		}
	}
	must.Succeed(t, json.Unmarshal(out.Bytes(), &got))
	if m := got.Modules; m[0].Parent != nil || *m[1].Parent != "" || *m[2].Parent != "test.t.r" {
		t.Errorf("wrong parents in %s", out.String())
	}
	if call := got.Modules[2].Call; call.File != "m/main.tf" || call.Line != 1 || call.Constraints != "~> 1.0" {
		t.Errorf("wrong call %v", call)
	}
	if got.Format != "1.0" || !slices.Equal(got.State.Providers, []string{"example.com/acme/alpha"}) {
		t.Errorf("got %s", out.String())
	}
	if p := got.Providers; len(p) != 2 || p[0].Locked.Version != "1.0.0" || p[0].BuiltIn || p[1].Locked != nil || !p[1].BuiltIn {
		t.Errorf("wrong providers in %s", out.String())
	}

	out.Reset()
	report.State, report.StateUnknown = nil, true
	if err := Write(&out, report, true, Run{}); err != nil || !strings.Contains(out.String(), `"state": null`) {
		t.Errorf("a state that isn't known: %v, %s", err, out.String())
	}
}
