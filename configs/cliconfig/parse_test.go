package cliconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

type services = map[string]string

// parse reads one file, "rc", with a few variables set.
func parse(src string) (*Config, []Problem) {
	r := newReader(testEnv, dialect.Of(terraform))
	r.content("rc", []byte(src))
	return r.result()
}

// mustParse reads one file without problems.
func mustParse(t testing.TB, src string) *Config {
	t.Helper()
	config, problems := parse(src)
	must.Len(t, problems, 0)
	return config
}

var terraform = getproviders.Terraform("1.15.9")

// testEnv is an environment with two variables.
func testEnv(name string) string {
	return map[string]string{"HOME": "/home/u", "SRC": "/src"}[name]
}

func TestRead_HostBlocks(t *testing.T) {
	want := services{"providers.v1": "https://127.0.0.1:8443/p/"}
	for _, tc := range []struct {
		name, src string
		want      map[hosts.Hostname]services
	}{
		{"empty file", "", nil},
		{"only a comment", "# nothing\n// at all\n/* really */", nil},
		{"map of services", `host "a.com" { services = { "providers.v1" = "https://127.0.0.1:8443/p/" } }`, map[hosts.Hostname]services{"a.com": want}},
		{"block of services", `host "a.com" { services { "providers.v1" = "https://127.0.0.1:8443/p/" } }`, map[hosts.Hostname]services{"a.com": want}},
		{"label as a level", `host { "a.com" = { services = { "providers.v1" = "https://127.0.0.1:8443/p/" } } }`, map[hosts.Hostname]services{"a.com": want}},
		{"names in any case", `HOST "a.com" { Services = { "providers.v1" = "https://127.0.0.1:8443/p/" } }`, map[hosts.Hostname]services{"a.com": want}},
		{"JSON", `{"host": {"a.com": {"services": {"providers.v1": "https://127.0.0.1:8443/p/"}}}}`, map[hosts.Hostname]services{"a.com": want}},
		{"JSON lists", ` {"host": [{"a.com": [{"services": [{"providers.v1": "https://127.0.0.1:8443/p/"}]}]}, {"b.com": {}}]}`, map[hosts.Hostname]services{"a.com": want, "b.com": {}}},
		{"JSON with escapes", `{"host": {"a\u002ecom": {"services": {"x.v1": "\u0041\n"}}}}`, map[hosts.Hostname]services{"a.com": {"x.v1": "A\n"}}},
		{"HCL with escapes", `host "a.com" { services = { "x.v1" = "\u0041\n\"" } }`, map[hosts.Hostname]services{"a.com": {"x.v1": "A\n\""}}},
		{"here document", "host \"a.com\" {\n services = {\n \"x.v1\" = <<E\n/p/\nE\n }\n}", map[hosts.Hostname]services{"a.com": {"x.v1": "/p/\n"}}},
		{"names are normalised", `host "Bücher.Example:0443" { services = {} }`, map[hosts.Hostname]services{"xn--bcher-kva.example": {}}},
		{"port", `host "localhost:8443" { services = { "modules.v1" = "/m/" } }`, map[hosts.Hostname]services{"localhost:8443": {"modules.v1": "/m/"}}},
		{"nothing offered", `host "a.com" { }`, map[hosts.Hostname]services{"a.com": {}}},
		{"unknown arguments", `host "a.com" { color = "red" }`, map[hosts.Hostname]services{"a.com": {}}},
		{"the last block counts", "host \"a.com\" { services = { \"providers.v1\" = \"/p/\" } }\nhost \"A.com\" { services = { \"modules.v1\" = \"/m/\" } }",
			map[hosts.Hostname]services{"a.com": {"modules.v1": "/m/"}}},
		{"services twice in one block", "host \"a.com\" {\n services = { \"x.v1\" = \"1\", \"y.v1\" = \"1\" }\n services = { \"x.v1\" = \"2\" }\n}",
			map[hosts.Hostname]services{"a.com": {"x.v1": "2", "y.v1": "1"}}},
		{"other services of any kind", `host "a.com" { services = { "login.v1" = { client = "x", ports = [1, 2] }, "a.v1" = 5, "b.v1" = true, "c.v1" = [] } }`,
			map[hosts.Hostname]services{"a.com": {}}},
		{"JSON services of any kind", `{"host": {"a.com": {"services": {"login.v1": {"client": "x"}, "a": null, "b": 1.5, "c": false, "d": [[]]}}}}`,
			map[hosts.Hostname]services{"a.com": {}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := mustParse(t, tc.src)
			if !maps.EqualFunc(config.Hosts, tc.want, maps.Equal[services]) {
				t.Errorf("got %v, want %v", config.Hosts, tc.want)
			}
		})
	}
}

func TestRead_UnknownKeysAreIgnored(t *testing.T) {
	for _, src := range []string{
		"zork = 5\nblah \"x\" \"y\" { z = [{}] }\ndisable_checkpoint = true\nproviders { a = \"b\" }",
		`{"zork": 5, "blah": null, "": [], "disable_checkpoint": true, "providers": {"a": "b"}}`,
	} {
		config, problems := parse(src)
		if len(problems) > 0 || len(config.Hosts) > 0 || config.Installation != nil {
			t.Errorf("%s: %+v, %+v", src, config, problems)
		}
	}
}

// fileCase is a file with a problem that ends the reading of nothing else. Words in it are secret.
type fileCase struct {
	name, src       string
	line            int
	summary, detail string
}

const (
	secret  = "tHisIsTheT0ken"
	badFile = "Invalid CLI configuration"
)

// TestRead_Problems has files of which Terraform judges most in the same way (TestRead_ProblemsAreThoseOfTerraform).
func TestRead_Problems(t *testing.T) {
	for _, tc := range slices.Concat(fileCases, credentialsCases, installationCases) {
		_, problems := parse(strings.ReplaceAll(tc.src, "SECRET", secret))
		must.Len(t, problems, 1, tc.name)
		p := problems[0]
		if p.Warning || p.Summary != tc.summary || p.File != "rc" || p.Line != tc.line || !strings.Contains(p.Detail, tc.detail) {
			t.Errorf("%s: got %+v\nwant line %d: %s: %s", tc.name, p, tc.line, tc.summary, tc.detail)
		}
		must.NotContain(t, fmt.Sprint(p), secret, tc.name)
	}
}

var fileCases = []fileCase{
	{"invalid hostname", "\nhost \"exa mple.com\" { }", 2, badFile, `"exa mple.com"`},
	{"URL as hostname", `host "https://a.com" { }`, 1, badFile, "https://a.com"},
	{"JSON invalid hostname", "{\n\"host\": {\n\"a com\": {}}}", 3, badFile, `"a com"`},
	{"host without braces", "x = 1\n\nhost = \"a.com\"", 3, badFile, `A host block needs a hostname and braces, as in: host "registry.example.com" { ... }. This is a string.`},
	{"host list of strings", `host = ["a.com"]`, 1, badFile, "This is a list."},
	{"host null", `{"host": null}`, 1, badFile, "This is null."},
	{"host true", `host = true`, 1, badFile, "This is a bool."},
	{"host number", `{"host": 1e400}`, 1, badFile, "This is a number."},
	{"host content", "host {\n a.com = 5\n}", 2, badFile, `The host "a.com" block must contain a map of services, but it is a number.`},
	{"services", "host \"a.com\" {\n services = [\"x\"]\n}", 2, badFile, `The services of the host "a.com" block must be a map of URLs, but they are a list.`},
	{"services null", "{\"host\": {\"a.com\": {\n\"services\": null}}}", 2, badFile, "they are null."},
	{"provider service", "host \"a.com\" {\n services = {\n \"providers.v1\" = 5\n }\n}", 3, badFile, `The service "providers.v1" of the host "a.com" block must be a URL, as a string, but it is a number.`},
	{"module service", "{\"host\": {\"a.com\": {\"services\":\n{\"modules.v1\": {}}}}}", 2, badFile, `"modules.v1" of the host "a.com" block must be a URL, as a string, but it is a map.`},
	{"unterminated string", "\nhost \"a", 2, badFile, "can't be parsed: literal not terminated"},
	{"unterminated block", "host \"a.com\" {\n", 2, badFile, "a } is missing"},
	{"equals sign after a label", `host "a.com" = {}`, 1, badFile, "can't be parsed"},
	{"list at the top", `[]`, 1, badFile, "can't be parsed"},
	{"no value", "a = 1\nb = c", 2, badFile, "can't be parsed"},
	{"byte order mark behind it", "a = 1\n\ufeffb = 1", 2, badFile, "illegal char"},
	{"flag that is text", "\ufeffdisable_checkpoint = \"yes\"", 1, badFile, "must be true or false"},
	{"another", "\ndisable_checkpoint_signature = 1", 2, badFile, "must be true or false"},
	{"not UTF-8", "\na = \"\xff\"", 2, badFile, "can't be parsed"},
	{"null character", "a = 1\n\x00", 2, badFile, "can't be parsed"},
	{"JSON that ends", "{\n\"host\": {\n", 3, badFile, "invalid JSON: it ends too early"},
	{"JSON only a bracket", "{", 1, badFile, "invalid JSON: it ends too early"},
	{"JSON without comma", "{\"a\": \"x\"\n\"b\": 2}", 2, badFile, "invalid JSON"},
	{"JSON with trailing comma", "{\"a\": 1,\n}", 2, badFile, "invalid JSON"},
	{"JSON with more after it", "{}\n{}", 2, badFile, "invalid JSON: there is something after the end"},
	{"JSON with garbage after it", "{}\n}}", 2, badFile, "invalid JSON"},
	{"JSON with a comment", "{\n// x\n}", 2, badFile, "invalid JSON"},
	{"nesting", "a = 1\nb = " + strings.Repeat("[", 100000), 2, badFile, "nested too deeply"},
	{"JSON nesting", "{\n\"a\":" + strings.Repeat("[", 100000), 2, badFile, "nested too deeply"},
}
