package getproviders

import (
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRegistrySource_SaysWhatElseThereIsForAPlatform(t *testing.T) {
	for name, test := range map[string]struct {
		list      string // of versions; "" means a failure
		platforms []string
		newest    string
		hint      string
		also      string // how the error goes on
	}{
		"another version and other platforms": {
			list: `[{"version": "1.0.0", "platforms": [{"os": "windows", "arch": "386"}, {"os": "darwin", "arch": "arm64"}]},
				{"version": "0.8.0", "platforms": [{"os": "linux", "arch": "amd64"}]},
				{"version": "0.9.0", "platforms": [{"os": "linux", "arch": "amd64"}]},
				{"version": "1.1.0-beta", "platforms": [{"os": "linux", "arch": "amd64"}]},
				{"version": "1.2.0", "platforms": [{"os": "darwin", "arch": "arm64"}]}]`,
			platforms: []string{"darwin_arm64", "windows_386"},
			newest:    "0.9.0",
			hint:      "version 1.0.0 exists for darwin_arm64, windows_386; the newest version with a package for linux_amd64 is 0.9.0",
		},
		"a prerelease only": {
			list:   `[{"version": "1.0.0"}, {"version": "1.1.0-beta", "platforms": [{"os": "linux", "arch": "amd64"}]}]`,
			newest: "1.1.0-beta",
			hint:   "the newest version with a package for linux_amd64 is 1.1.0-beta",
		},
		"other platforms only": {
			list:      `[{"version": "1.0.0", "platforms": [{"os": "darwin", "arch": "arm64"}]}]`,
			platforms: []string{"darwin_arm64"},
			hint:      "version 1.0.0 exists for darwin_arm64; no version has a package for linux_amd64",
		},
		"a list that contradicts itself": {
			list:      `[{"version": "1.0.0", "platforms": [{"os": "linux", "arch": "amd64"}]}]`,
			platforms: []string{"linux_amd64"},
			also:      ": the list of versions names it, but its description is missing",
			hint:      "tell the provider's publisher, or those who run the server",
		},
		"a list without platforms": {list: `[{"version": "1.0.0"}]`},
		"no list":                  {},
	} {
		answers := pages{versionsPath: `{"versions": ` + test.list + `}`}
		_, err := askForPackage(t, newFakeRegistry(t, answers))
		wantKind(t, err, ErrPlatformMissing, name)
		missing := must.As[*Fault](t, err, name)
		must.Equal(t, missing.Newest, version(test.newest), name)
		must.Equal(t, fmt.Sprint(missing.Platforms), fmt.Sprint(test.platforms), name)
		must.Equal(t, hint(err), test.hint, name)
		must.Equal(t, err.Error(), "provider registry.example/acme/widget v1.0.0 does not have a package available for linux_amd64 in registry registry.example"+test.also, name)
	}
}

// version is MustParseVersion, but "" is the zero Version.
func version(text string) Version {
	if text == "" {
		return Version{}
	}
	return MustParseVersion(text)
}

func TestRegistrySource_TellsAMissingVersionFromAMissingPlatform(t *testing.T) {
	for list, wanted := range map[string]string{
		`[{"version": "0.9.0"}, {"version": "1.1.0-rc1"}]`: "the newest version there is 0.9.0",
		`[]`: "",
	} {
		answers := pages{versionsPath: `{"versions": ` + list + `}`}
		_, err := askForPackage(t, newFakeRegistry(t, answers))
		wantKind(t, err, ErrVersionNotFound)
		must.Equal(t, err.Error(), "registry registry.example does not have version 1.0.0 of provider registry.example/acme/widget")
		must.Equal(t, hint(err), wanted)
	}
}

func TestRegistrySource_SuggestsAVersionWithAProtocolThatWorks(t *testing.T) {
	const none = "no compatible version of registry.example/acme/widget is known: use another version of the program, or ask the provider's publisher"
	for name, test := range map[string]struct{ list, hint string }{
		"older": {
			list: `[{"version": "1.0.0", "protocols": ["4.0"]}, {"version": "0.8.0", "protocols": ["5.0"]}, {"version": "0.9.0", "protocols": ["5.1", "7.0"]}]`,
			hint: `downgrade to 0.9.0 or earlier: version = "0.9.0"`,
		},
		"newer": {
			list: `[{"version": "1.0.0", "protocols": ["4.0"]}, {"version": "0.9.0", "protocols": ["5.0"]}, {"version": "2.0.0", "protocols": ["6.0"]}]`,
			hint: `version 2.0.0 is the latest compatible one: version = "2.0.0"`,
		},
		"a release before a prerelease": {
			list: `[{"version": "2.0.0-rc1", "protocols": ["6.0"]}, {"version": "0.9.0", "protocols": ["5.0"]}]`,
			hint: `downgrade to 0.9.0 or earlier: version = "0.9.0"`,
		},
		"never the version itself":   {list: `[{"version": "1.0.0", "protocols": ["5.0"]}]`, hint: none},
		"none that is said to work":  {list: `[{"version": "1.0.0"}, {"version": "0.9.0"}, {"version": "0.8.0", "protocols": ["x", "5.0"]}]`, hint: none},
		"no list that could tell so": {list: `{}`, hint: none},
	} {
		answers := pages{
			packagePath:  packageBody(t, map[string]any{"protocols": []string{"4.0", "7.0"}}),
			versionsPath: `{"versions": ` + test.list + `}`,
		}
		_, err := askForPackage(t, newFakeRegistry(t, answers))
		wantKind(t, err, ErrProtocol, name)
		must.EqualSlices(t, must.As[*Fault](t, err).Protocols, []string{"4.0", "7.0"}, name)
		must.Equal(t, hint(err), test.hint, name)
		must.Equal(t, err.Error(), "provider registry.example/acme/widget v1.0.0 is not compatible with Terraform 1.15.9: it speaks plugin protocol 4.0, 7.0, not 5 or 6", name)
	}
}

func TestRegistrySource_Suggests(t *testing.T) {
	implied := Provider{Hostname: Terraform("").DefaultHost, Namespace: "hashicorp", Type: "widget"}
	elsewhere, other := widget, implied
	elsewhere.Namespace, other.Namespace = "hashicorp", "acme"
	for name, test := range map[string]struct {
		asked  Provider
		answer string
		want   string
	}{
		"by id":             {implied, `{"id": "acme/widget", "moved_to": null}`, "registry.terraform.io/acme/widget"},
		"by new place":      {implied, `{"id": "old/widget", "moved_to": "ACME/gadget"}`, "registry.terraform.io/acme/gadget"},
		"not itself":        {implied, `{"id": "hashicorp/widget"}`, ""},
		"nothing known":     {implied, "404", ""},
		"failure":           {implied, "403", ""},
		"no JSON":           {implied, `<html>`, ""},
		"no address":        {implied, `{"id": "widget"}`, ""},
		"bad namespace":     {implied, `{"id": "../widget"}`, ""},
		"too many parts":    {implied, `{"id": "x.example/acme/widget"}`, ""},
		"not elsewhere":     {elsewhere, `{"id": "acme/widget"}`, ""},
		"not for namespace": {other, `{"id": "zzz/widget"}`, ""},
	} {
		source := newFakeRegistry(t, pages{"/v1/-/widget/versions": test.answer}).source(t)
		got, ok := source.Describe(test.asked).Suggest(t.Context(), test.asked)
		must.Equal(t, got.String(), test.want, name)
		must.Equal(t, ok, test.want != "", name)
	}
}
