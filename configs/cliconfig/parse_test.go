package cliconfig

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/must"
)

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
	must.Len(t, problems, 0, src)
	return config
}

var terraform = getproviders.Terraform("1.15.9")

// testEnv is an environment with two variables.
func testEnv(name string) string {
	return map[string]string{"HOME": "/home/u", "SRC": "/src"}[name]
}

// TestRead_HostBlocks maps files to their hosts with services.
func TestRead_HostBlocks(t *testing.T) {
	const one = "map[a.com:map[providers.v1:https://127.0.0.1:8443/p/]]"
	for src, want := range map[string]string{
		"":                                   "map[]", // empty file
		"# nothing\n// at all\n/* really */": "map[]", // only a comment
		`host "a.com" { services = { "providers.v1" = "https://127.0.0.1:8443/p/" } }`:       one,                                            // map of services
		`host "a.com" { services { "providers.v1" = "https://127.0.0.1:8443/p/" } }`:         one,                                            // block of services
		`host { "a.com" = { services = { "providers.v1" = "https://127.0.0.1:8443/p/" } } }`: one,                                            // label as a level
		`HOST "a.com" { Services = { "providers.v1" = "https://127.0.0.1:8443/p/" } }`:       one,                                            // names in any case
		`{"host": {"a.com": {"services": {"providers.v1": "https://127.0.0.1:8443/p/"}}}}`:   one,                                            // JSON
		` {"host": [{"a.com": [{"services": [{"providers.v1": "/p/"}]}]}, {"b.com": {}}]}`:   "map[a.com:map[providers.v1:/p/] b.com:map[]]", // JSON lists
		`{"host": {"a\u002ecom": {"services": {"x.v1": "\u0041\n"}}}}`:                       "map[a.com:map[x.v1:A\n]]",                     // JSON with escapes
		`host "a.com" { services = { "x.v1" = "\u0041\n\"" } }`:                              "map[a.com:map[x.v1:A\n\"]]",                   // HCL with escapes
		"host \"a.com\" {\n services = {\n \"x.v1\" = <<E\n/p/\nE\n }\n}":                    "map[a.com:map[x.v1:/p/\n]]",                   // here document
		`host "Bücher.Example:0443" { services = {} }`:                                       "map[bücher.example:map[]]",                    // names are normalised
		`host "localhost:8443" { services = { "modules.v1" = "/m/" } }`:                      "map[localhost:8443:map[modules.v1:/m/]]",      // port
		`host "a.com" { }`:               "map[a.com:map[]]", // nothing offered
		`host "a.com" { color = "red" }`: "map[a.com:map[]]", // unknown arguments
		"host \"a.com\" { services = { \"providers.v1\" = \"/p/\" } }\nhost \"A.com\" { services = { \"modules.v1\" = \"/m/\" } }": "map[a.com:map[modules.v1:/m/]]", // the last block counts
		"host \"a.com\" {\n services = { \"x.v1\" = \"1\", \"y.v1\" = \"1\" }\n services = { \"x.v1\" = \"2\" }\n}":                "map[a.com:map[x.v1:2 y.v1:1]]",  // services twice in one block
		`host "a.com" { services = { "login.v1" = { client = "x", ports = [1, 2] }, "a.v1" = 5, "b.v1" = true, "c.v1" = [] } }`:    "map[a.com:map[]]",               // other services of any kind
		`{"host": {"a.com": {"services": {"login.v1": {"client": "x"}, "a": null, "b": 1.5, "c": false, "d": [[]]}}}}`:             "map[a.com:map[]]",               // JSON services of any kind
	} {
		must.Equal(t, fmt.Sprint(mustParse(t, src).Hosts), want, src)
	}
}

func TestRead_UnknownKeysAreIgnored(t *testing.T) {
	for _, src := range []string{
		"zork = 5\nblah \"x\" \"y\" { z = [{}] }\ndisable_checkpoint = true\nproviders { a = \"b\" }",
		`{"zork": 5, "blah": null, "": [], "disable_checkpoint": true, "providers": {"a": "b"}}`,
	} {
		config, problems := parse(src)
		if len(problems) > 0 || len(config.Hosts) > 0 || config.Helper != nil || config.Installation != nil {
			t.Errorf("%s: %+v, %+v", src, config, problems)
		}
	}
}

const secret = "tHisIsTheT0ken"

// TestRead_Problems has files; Terraform reports the same problems for most (TestRead_ProblemsAreThoseOfTerraform).
func TestRead_Problems(t *testing.T) {
	for src, want := range problemCases() {
		_, problems := parse(strings.ReplaceAll(src, "SECRET", secret))
		must.Len(t, problems, 1, src)
		p := problems[0]
		at, detail, _ := strings.Cut(strings.TrimPrefix(want, "ours "), ": ")
		must.Equal(t, fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Summary), "rc:"+at, src)
		must.Contain(t, p.Detail, detail, src)
		must.Equal(t, p.Warning, false, src)
		must.NotContain(t, fmt.Sprint(p), secret, src)
	}
}

// problemCases are files with one problem: its line, summary, and a part of its details, after "ours" if Terraform reports no
// problem. Words in them are secret.
func problemCases() map[string]string {
	all := map[string]string{}
	for _, cases := range []map[string]string{fileCases, credentialsCases, installationCases} {
		maps.Copy(all, cases)
	}
	return all
}

var fileCases = map[string]string{
	"\nhost \"exa mple.com\" { }":                     `2 Invalid CLI configuration: "exa mple.com"`,                                                                                          // invalid hostname
	`host "https://a.com" { }`:                        "1 Invalid CLI configuration: https://a.com",                                                                                           // URL as hostname
	"{\n\"host\": {\n\"a com\": {}}}":                 `3 Invalid CLI configuration: "a com"`,                                                                                                 // JSON invalid hostname
	"x = 1\n\nhost = \"a.com\"":                       `3 Invalid CLI configuration: A host block needs a hostname and braces, as in: host "registry.example.com" { ... }. This is a string.`, // host without braces
	`host = ["a.com"]`:                                "1 Invalid CLI configuration: This is a list.",                                                                                         // host list of strings
	`{"host": null}`:                                  "1 Invalid CLI configuration: This is null.",                                                                                           // host null
	`host = true`:                                     "1 Invalid CLI configuration: This is a bool.",                                                                                         // host true
	`{"host": 1e400}`:                                 "1 Invalid CLI configuration: This is a number.",                                                                                       // host number
	"host {\n a.com = 5\n}":                           `2 Invalid CLI configuration: The host "a.com" block must contain a map of services, but it is a number.`,                              // host content
	"host \"a.com\" {\n services = [\"x\"]\n}":        `2 Invalid CLI configuration: The services of the host "a.com" block must be a map of URLs, but they are a list.`,                      // services
	"{\"host\": {\"a.com\": {\n\"services\": null}}}": "2 Invalid CLI configuration: they are null.",                                                                                          // services null
	"host \"a.com\" {\n services = {\n \"providers.v1\" = 5\n }\n}":  `ours 3 Invalid CLI configuration: The service "providers.v1" of the host "a.com" block must be a URL, as a string, but it is a number.`, // provider service
	"{\"host\": {\"a.com\": {\"services\":\n{\"modules.v1\": {}}}}}": `ours 2 Invalid CLI configuration: "modules.v1" of the host "a.com" block must be a URL, as a string, but it is a map.`,                  // module service
	"\nhost \"a":                         "2 Invalid CLI configuration: can't be parsed: literal not terminated",             // unterminated string
	"host \"a.com\" {\n":                 "2 Invalid CLI configuration: a } is missing",                                      // unterminated block
	`host "a.com" = {}`:                  "1 Invalid CLI configuration: can't be parsed",                                     // equals sign after a label
	`[]`:                                 "1 Invalid CLI configuration: can't be parsed",                                     // list at the top
	"a = 1\nb = c":                       "2 Invalid CLI configuration: can't be parsed",                                     // no value
	"a = 1\n\ufeffb = 1":                 "2 Invalid CLI configuration: illegal char",                                        // byte order mark behind it
	"\ufeffdisable_checkpoint = \"yes\"": "1 Invalid CLI configuration: must be true or false",                               // flag that is text
	"\ndisable_checkpoint_signature = 1": "2 Invalid CLI configuration: must be true or false",                               // another
	"\na = \"\xff\"":                     "2 Invalid CLI configuration: can't be parsed",                                     // not UTF-8
	"a = 1\n\x00":                        "2 Invalid CLI configuration: can't be parsed",                                     // null character
	"{\n\"host\": {\n":                   "ours 3 Invalid CLI configuration: invalid JSON: it ends too early",                // JSON that ends
	"{":                                  "ours 1 Invalid CLI configuration: invalid JSON: it ends too early",                // JSON only a bracket
	"{\"a\": \"x\"\n\"b\": 2}":           "ours 2 Invalid CLI configuration: invalid JSON",                                   // JSON without comma
	"{\"a\": 1,\n}":                      "ours 2 Invalid CLI configuration: invalid JSON",                                   // JSON with trailing comma
	"{}\n{}":                             "ours 2 Invalid CLI configuration: invalid JSON: there is something after the end", // JSON with more after it
	"{}\n}}":                             "ours 2 Invalid CLI configuration: invalid JSON",                                   // JSON with garbage after it
	"{\n// x\n}":                         "2 Invalid CLI configuration: invalid JSON",                                        // JSON with a comment
	"a = 1\nb = " + strings.Repeat("[", 100000): "2 Invalid CLI configuration: nested too deeply", // nesting
	"{\n\"a\":" + strings.Repeat("[", 100000):   "2 Invalid CLI configuration: nested too deeply", // JSON nesting
}
