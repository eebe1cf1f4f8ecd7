package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func acme(name string) getproviders.Provider {
	return getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: name}
}

var (
	alpha   = acme("alpha")
	beta    = acme("beta")
	gamma   = acme("gamma")
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

// TestURLs_AreWholeForProgramsOnly has a URL with all kinds of secrets. Only
// the query is printed, and only in JSON, because a download needs it.
func TestURLs_AreWholeForProgramsOnly(t *testing.T) {
	t.Parallel()
	at := must.Get(url.Parse("https://me:password@cdn.example/w.zip?signature=a&b=%2F"))(t)
	p := providercache.LockedPackage{Outcome: providercache.Outcome{
		Selection: getproviders.Selection{Provider: acme("widget"), Version: getproviders.MustParseVersion("1.0.0")},
		Platform:  getproviders.Platform{OS: "linux", Arch: "amd64"}, Bytes: 5,
	}, Package: getproviders.Package{Location: getproviders.HTTPArchive{URL: at}}}
	report := URLs([]explain.LockedDir{{
		Dir: ".", Result: providercache.LockResult{Packages: []providercache.LockedPackage{p}},
		Locked: func(getproviders.Provider, getproviders.Version) []getproviders.Hash { return nil },
	}})
	var asJSON bytes.Buffer
	must.Succeed(t, Write(&asJSON, report, true, Run{}))
	asText := report.People
	if !strings.Contains(asJSON.String(), `"url": "https://cdn.example/w.zip?signature=a&b=%2F"`) || !json.Valid(asJSON.Bytes()) {
		t.Errorf("as JSON: %s", &asJSON)
	}
	must.Equal(t, asText, "example.com/acme/widget v1.0.0 linux_amd64 (unauthenticated)\n  https://cdn.example/w.zip\n  5 bytes\n")
}

// TestVerify_NamesInPackagesWriteNoLines: a hostile package chooses the names of
// files, and the targets of symlinks.
func TestVerify_NamesInPackagesWriteNoLines(t *testing.T) {
	hostile := errors.New("it is a link that leads nowhere: /x\nVerified 9 packages\r\x1b[2J")
	for _, finding := range []providercache.Finding{providercache.Dangling, providercache.Unreadable} {
		v := Verified([]VerifiedTree{{Path: "mirror", LockFile: "lock", Packages: []providercache.ComparedPackage{
			{ReadPackage: providercache.ReadPackage{Outcome: providercache.Outcome{Path: "mirror/x", Err: hostile}}, Finding: finding},
		}}})
		if text := v.People; strings.Count(text, "\n") != 2 || strings.ContainsAny(text, "\r\x1b") || !strings.Contains(text, `/x\nVerified 9`) {
			t.Errorf("%s: %q", finding, text)
		}
	}
}
