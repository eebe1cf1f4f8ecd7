package modules

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// selectCase is the list of a registry, the constraints of a call, and the selected version. "none, VERSION" means none, with VERSION as the
// newest.
type selectCase struct{ listed, constraint, want string }

// lenient are constraints for which Terraform selects no version.
var lenient = []string{"= 1.2.0-beta1", "v1.2.0-beta1", "1.2.0-beta1, >= 1.2.0-alpha"}

// selectCases are compared with Terraform, too.
var selectCases = casesOf(map[string]map[string]string{
	"1.0.0 1.1.0 1.2.0-beta1 1.2.0-beta2 2.0.0 2.1.0-rc.1": {
		"":                            "2.0.0",
		"~> 1.0":                      "1.1.0",
		"~> 1":                        "2.0.0",
		"1":                           "1.0.0",
		"= 1.1":                       "1.1.0",
		">= 1.0, < 2.0, != 1.1.0":     "1.0.0",
		"!= 2.0.0":                    "1.1.0",
		"!= 2.1.0-rc.1":               "2.0.0",
		"> 3":                         "none, 2.0.0",
		"1.2.0-beta1":                 "1.2.0-beta1",
		"=1.2.0-beta1":                "1.2.0-beta1",
		" 1.2.0-beta1 ":               "1.2.0-beta1",
		"1.2-beta1":                   "1.2.0-beta1",
		"2.1.0-rc.1":                  "2.1.0-rc.1",
		"1.2.0-BETA1":                 "none, 2.0.0",
		">= 1.2.0-beta1":              "2.0.0",
		">= 1.2.0-beta1, < 1.2.0":     "none, 2.0.0",
		"~> 1.2.0-beta1":              "none, 2.0.0",
		"<= 1.2.0-beta2":              "1.1.0",
		"> 1.0, 2.1.0-rc.1":           "none, 2.1.0-rc.1",
		"= 1.2.0-beta1":               "1.2.0-beta1",
		"v1.2.0-beta1":                "1.2.0-beta1",
		"1.2.0-beta1, >= 1.2.0-alpha": "1.2.0-beta1",
	},
	"2.0.0 1.0.0 10.0.0 9.0.0": {"": "10.0.0"},
	"1.2.0-beta1":              {"": "none, ", "> 1.0": "none, "},

	"1.0.0+a 1.0.0+b 1.0.0": {"": "1.0.0+a"},
	"1.0.0 1.0.0+b 1.0.0+a": {"": "1.0.0"},
	"1.0.0+a 1.0.0+b":       {"1.0.0+b": "1.0.0+a", "!= 1.0.0+a": "none, 1.0.0+a"},
	"1.0.0-x+a 1.0.0-x+b":   {"1.0.0-x+b": "1.0.0-x+b", "1.0.0-x": "none, "},
	"1.2.0 1.2.0.5 1.2.0.4": {"~> 1.2.0": "1.2.0.5"},

	"x 1.0.0 1.0.0-a_b 99999999999999999999.0.0": {"": "1.0.0"},
	"x": {"": "none, "},
})

// casesOf returns the cases of each list, in a fixed order.
func casesOf(lists map[string]map[string]string) (all []selectCase) {
	for _, listed := range slices.Sorted(maps.Keys(lists)) {
		for _, constraint := range slices.Sorted(maps.Keys(lists[listed])) {
			all = append(all, selectCase{listed, constraint, lists[listed][constraint]})
		}
	}
	return all
}

// list returns the decoded response of a registry with the versions of a case.
func (c selectCase) list(t *testing.T) versionList {
	t.Helper()
	var entries []string
	for version := range strings.FieldsSeq(c.listed) {
		entries = append(entries, fmt.Sprintf(`{"version":%q}`, version))
	}
	return must.Get(decodeVersions([]byte(`{"modules":[{"versions":[` + strings.Join(entries, ",") + `]}]}`)))(t)
}

func TestRegistry_ChoosesTheNewestVersionThatACallMayHave(t *testing.T) {
	for _, c := range selectCases {
		want, err := parseWanted(c.constraint)
		must.Succeed(t, err)
		choice, err := c.list(t).choose(Registry{Host: "example.com"}, want)
		if newest, nothing := strings.CutPrefix(c.want, "none, "); !nothing {
			must.Equal(t, choice.Version, c.want, c.constraint, c.listed, err)
		} else if says := fmt.Sprintf("constraint %q; the newest available version is %s", c.constraint, newest); choice.Version != "" || !errors.Is(err, ErrNoVersion) ||
			errors.Is(err, errNoVersions) != (newest == "") || newest != "" && !strings.HasSuffix(err.Error(), says) {
			t.Errorf("%q of %s: %q, %v, want %s", c.constraint, c.listed, choice.Version, err, c.want)
		}
	}
}

func TestRegistry_HintsAtPrereleases(t *testing.T) {
	want, _ := parseWanted("> 1")
	_, err := selectCase{listed: "1.0.0-a 1.0.0-b"}.list(t).choose(Registry{Host: "example.com"}, want)
	must.Contain(t, getproviders.HintsOf(err), `"1.0.0-b"`)
	must.Equal(t, headline(err), "Module has no versions")
}

func TestRegistry_WarningsRepeatLittleOfWhatARegistrySays(t *testing.T) {
	long := strings.Repeat("x", 1000)
	list := versionList{odd: []string{long, "b\x1b[31m", "c", "d", "e", "f", "g"}}
	warnings := list.warnings(Registry{Host: "example.com", Namespace: "acme", Name: "net", System: "cloud"})
	must.Len(t, warnings, 1)
	must.Equal(t, len(warnings[0]) > 300, false, warnings)
	must.Contain(t, warnings[0], `"b\x1b[31m"`)
	must.Contain(t, warnings[0], "2 more")
}

func TestRegistry_AConstraintThatPinsAVersion(t *testing.T) {
	for constraint, want := range map[string]string{
		"1.2.0": "1.2.0", "= 1.2.0": "1.2.0", "=1.2": "1.2.0", "v1.2.0": "1.2.0", "1.2.0-beta1": "1.2.0-beta1",
		"": "", "~> 1.2.0": "", "!= 1.2.0": "", ">= 1.2.0": "", "1.2.0, != 1.3": "", "1.2.0, 1.2.0": "",
	} {
		parsed := must.Get(parseWanted(constraint))(t)
		got, ok := parsed.pinned()
		must.Equal(t, got, want, constraint)
		must.Equal(t, ok, want != "", constraint)
	}
	must.Refuse(parseWanted("one"))(t, "what is no constraint is taken for one")
}

// bodyCases are responses of a module registry to OpenTofu, header and body, and the fetched package: "" if the response is refused;
// "with" or "without" a token, followed by what the registry has itself. BASE is the registry's URL.
var bodyCases = map[string]string{
	` {"location": "BASE/archives/body.tgz"}`:                                                   "/archives/body.tgz",
	` {"location": "/archives/body.tgz"}`:                                                       "/archives/body.tgz",
	` {"location": "../../../../../../archives/body.tgz"}`:                                      "/archives/body.tgz",
	`BASE/archives/header.tgz {"location": "/archives/body.tgz"}`:                               "/archives/body.tgz",
	`/archives/header.tgz {}`:                                                                   "/archives/header.tgz",
	`/archives/header.tgz {"location": ""}`:                                                     "/archives/header.tgz",
	`/archives/header.tgz null`:                                                                 "/archives/header.tgz",
	`/archives/header.tgz {"location": "/archives/body.tgz", "use_registry_credentials": null}`: "/archives/body.tgz",
	`/archives/header.tgz <html>`:                                                               "",
	`/archives/header.tgz `:                                                                     "",
	`/archives/header.tgz {"location": 1}`:                                                      "",
	` {}`:                                                                                       "",
	` {"location": "body.tgz"}`:                                                                 "",
	` {"location": "acme/net/cloud"}`:                                                           "",
	` {"location": "BASE/archives/body", "use_registry_credentials": true}`:                     "/archives/body with",
	` {"location": "BASE/archives/body", "use_registry_credentials": false}`:                    "/archives/body without",
	` {"location": "/archives/body", "use_registry_credentials": true}`:                         "/archives/body with",
	` {"location": "../../../../../../archives/body", "use_registry_credentials": false}`:       "/archives/body without",
	`/archives/header.tgz {"location": "/archives/body", "use_registry_credentials": "no"}`:     "",
	` {"location": "ftp://example.com/body", "use_registry_credentials": false}`:                "",
	` {"location": "git::BASE/body.git", "use_registry_credentials": false}`:                    "",
	` {"location": "/archives/body#x", "use_registry_credentials": false}`:                      "",
}

// For OpenTofu, the location of a package is in the body of a registry's response, or in the header if the body has none.
func TestRegistry_BodiesSayWherePackagesAre(t *testing.T) {
	tofu, noTofu := peertest.PeerProgram("tofu")
	for answer, want := range bodyCases {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			header, body, _ := strings.Cut(answer, " ")
			fetched, token, served := strings.Cut(want, " ")
			registry := newRegistry(t)
			based := func(text string) string { return strings.ReplaceAll(text, "BASE", registry.BaseURL()) }
			archive := providertest.TarGz(texts{"sub/main.tf": ""})
			for _, name := range []string{"body", "body.tgz", "header.tgz"} {
				registry.AddArchive(name, archive)
			}
			addNet(registry, "1.0.0")
			registry.Break("module/download", providertest.Fault{Status: 200, Header: http.Header{"X-Terraform-Get": {based(header)}},
				Body: func([]byte) []byte { return []byte(based(body)) }})
			registries := newRegistries(registry)
			registries.Product = asOpenTofu
			got, err := registries.Locate(t.Context(), netModule, "1.0.0", false)
			remote := Remote{Package: registry.BaseURL() + fetched, Subdir: "sub", Served: Served{Here: served}}
			if token == "with" {
				remote.Served.TokenOf = "example.com"
			}
			if want == "" && err == nil || want != "" && (err != nil || got != remote) {
				t.Errorf("got %+v, %v", got, err)
			}
			if noTofu != nil || testing.Short() {
				return
			}
			dir := t.TempDir()
			write(t, dir, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", netModule))
			cmd := peertest.Command(t.Context(), tofu, dir, must.Get(registry.Env(t.TempDir(), "example.com"))(t), "get", "-no-color")
			if out, err := cmd.CombinedOutput(); (err == nil) != (want != "") || err == nil && !wasAsked(registry, fetched) {
				t.Errorf("tofu: %v\n%s", err, out)
			}
		})
	}
}
