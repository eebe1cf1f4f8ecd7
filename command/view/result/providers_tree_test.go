package result

import (
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
		must.Equal(t, strings.ReplaceAll(Providers(tt.report).People, "\u00a0", "~"), tt.want, tt.name)
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
