package cliconfig

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// show formats methods, one per line.
func show(methods []Method) string {
	var lines []string
	for _, m := range methods {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %v %s %v %v", m.Line, m.Kind, m.Location, m.Include, m.Exclude)))
	}
	return strings.Join(lines, "\n")
}

func TestRead_InstallationMethods(t *testing.T) {
	for src, want := range map[string]string{ // as show has it
		`provider_installation { }`:           "",                // empty block
		`provider_installation { direct {} }`: "1 direct  [] []", // direct
		`
provider_installation {
  network_mirror {
    url     = "https://mirror.example.com/p/"
    exclude = ["hashicorp/*"]
  }
  filesystem_mirror {
    path    = "/usr/share/terraform/providers"
    include = ["Example.com/*/*", "acme/aaa"]
  }
  direct { exclude = ["*/*/*"] }
}`: "3 network_mirror https://mirror.example.com/p/ [] [registry.terraform.io/hashicorp/*]\n" +
			"7 filesystem_mirror /usr/share/terraform/providers [example.com/*/* registry.terraform.io/acme/aaa] []\n" +
			"11 direct  [] [*/*/*]", // all, in order
		"provider_installation {\n filesystem_mirror { path = \"a\" }\n filesystem_mirror { path = \"b\" }\n}":             "2 filesystem_mirror a [] []\n3 filesystem_mirror b [] []",                  // the same method twice
		`PROVIDER_installation { FileSystem_Mirror { PATH = "a" INCLUDE = ["a/b"] } }`:                                     "1 filesystem_mirror a [registry.terraform.io/a/b] []",                      // names in any case
		`provider_installation { filesystem_mirror { path = "~/./$HOME/../x" } }`:                                          "1 filesystem_mirror ~/./$HOME/../x [] []",                                  // paths are kept as they are
		`provider_installation { filesystem_mirror { path = 0x5 } }`:                                                       "1 filesystem_mirror 0x5 [] []",                                             // number as path
		`provider_installation { direct { include = [] exclude = [] } }`:                                                   "1 direct  [] []",                                                           // no patterns
		`provider_installation { filesystem_mirror { path = "a" path = "b" } }`:                                            "1 filesystem_mirror b [] []",                                               // the last path counts
		`provider_installation { direct { include = ["a/b"] include = ["a/c"] } }`:                                         "1 direct  [registry.terraform.io/a/b registry.terraform.io/a/c] []",        // repeated patterns add up
		`provider_installation { network_mirror { url = "http://127.0.0.1:8080/" } }`:                                      "1 network_mirror http://127.0.0.1:8080/ [] []",                             // loopback without TLS
		"{\"provider_installation\": {\n\"filesystem_mirror\": {\"path\": \"a\"},\n\"direct\": {\"exclude\": [\"a/b\"]}}}": "2 filesystem_mirror a [] []\n3 direct  [] [registry.terraform.io/a/b]",     // JSON objects
		`{"provider_installation": [{"filesystem_mirror": [{"path": "a"}, {"path": "b"}], "direct": [{}]}]}`:               "1 filesystem_mirror a [] []\n1 filesystem_mirror b [] []\n1 direct  [] []", // JSON lists
		`{"provider_installation": {}}`: "", // JSON empty
	} {
		config := mustParse(t, src)
		must.Equal(t, show(config.Installation), want, src)
		must.Equal(t, config.Installation == nil, false, src)
		for _, m := range config.Installation {
			must.Equal(t, m.File, "rc", src)
		}
	}
}

var installationCases = map[string]string{
	`provider_installation "x" { direct {} }`:                                      "1 Invalid provider_installation block: can't have labels",                         // label
	"\nprovider_installation = { direct {} }":                                      "2 Invalid provider_installation block: must be a block",                           // equals sign
	`provider_installation = "x"`:                                                  "1 Invalid provider_installation block: must be a block",                           // string
	`provider_installation = []`:                                                   "1 Invalid provider_installation block: must be a block",                           // list
	`{"provider_installation": null}`:                                              "1 Invalid provider_installation block: must be a block",                           // JSON null
	`{"provider_installation": ["x"]}`:                                             "1 Invalid provider_installation block: must be a block",                           // JSON list of strings
	`{"provider_installation": []}`:                                                "1 Invalid provider_installation block: must be a block",                           // JSON empty list
	"provider_installation { direct {} }\n\nprovider_installation { }":             "3 No more than one provider_installation block may be specified: another",         // two blocks
	"provider_installation {}\nprovider_installation {}\nprovider_installation {}": "2 No more than one provider_installation block may be specified: another",         // three blocks
	"{\"provider_installation\": [{\"direct\": {}},\n{\"direct\": {}}]}":           "2 No more than one provider_installation block may be specified: another",         // two JSON blocks
	"provider_installation {\n network_mirorr { }\n}":                              `2 Invalid provider_installation method block: Did you mean "network_mirror"?`,     // misspelt method
	"provider_installation {\n oci_mirror { }\n}":                                  `2 Invalid provider_installation method block: "oci_mirror"`,                       // unknown method
	"provider_installation {\n direct = 5\n}":                                      "2 Invalid provider_installation method block: must contain blocks",                // argument
	"provider_installation {\n direct = {}\n}":                                     "2 Invalid provider_installation method block: must contain blocks",                // map
	`provider_installation { direct "x" {} }`:                                      "1 Invalid provider_installation method block: labels",                             // method with label
	`{"provider_installation": {"direct": null}}`:                                  "1 Invalid provider_installation method block: must contain blocks",                // JSON method null
	`{"provider_installation": {"direct": "x"}}`:                                   "1 Invalid provider_installation method block: must contain blocks",                // JSON method string
	`{"provider_installation": {"direct": []}}`:                                    "1 Invalid provider_installation method block: must contain blocks",                // JSON method empty list
	"provider_installation {\n filesystem_mirror { }\n}":                           `2 Invalid provider_installation method block: needs the argument "path"`,          // no path
	`provider_installation { filesystem_mirror { path = "" } }`:                    `1 Invalid provider_installation method block: needs the argument "path"`,          // empty path
	`{"provider_installation": {"filesystem_mirror": {"path": null}}}`:             `1 Invalid provider_installation method block: needs the argument "path"`,          // JSON null path
	"provider_installation {\n filesystem_mirror {\n path = true\n }\n}":           "3 Invalid provider_installation method block: must be a string, but it is a bool", // path of another kind
	`provider_installation { network_mirror {} }`:                                  `1 Invalid provider_installation method block: needs the argument "url"`,           // no URL
	"provider_installation { network_mirror {\nurl = \"http://example.com/\" } }":  "2 Invalid URL for provider installation source: https",                            // http URL
	`provider_installation { network_mirror { url = "x/y" } }`:                     "1 Invalid URL for provider installation source: can't be used",                    // relative URL
	`provider_installation { network_mirror { url = "https:///x" } }`:              "1 Invalid URL for provider installation source: can't be used",                    // no host
	`provider_installation { network_mirror { url = "::x" } }`:                     "1 Invalid URL for provider installation source: can't be used",                    // odd URL
	"provider_installation { direct {\n include = \"a/b\"\n} }":                    "2 Invalid provider_installation method block: must be a list of strings",          // include string
	`{"provider_installation": {"direct": {"include": null}}}`:                     "1 Invalid provider_installation method block: must be a list of strings",          // include null
	`provider_installation { direct { include = ["a/b", true] } }`:                 "1 Invalid provider_installation method block: must be a list of strings",          // include bool
	`provider_installation { direct { include = [["a/b"]] } }`:                     "1 Invalid provider_installation method block: must be a list of strings",          // include list
	"provider_installation { direct {\n include = [\"a/b\",\n\"a\"]\n} }":          `3 Invalid provider source inclusion patterns: "a"`,                                // one part
	`provider_installation { direct { include = [5] } }`:                           `1 Invalid provider source inclusion patterns: "5"`,                                // number
	`provider_installation { direct { exclude = ["a/b/c/d"] } }`:                   `1 Invalid provider source exclusion patterns: "a/b/c/d"`,                          // four parts
	`provider_installation { direct { exclude = ["*/a"] } }`:                       `1 Invalid provider source exclusion patterns: "*/a"`,                              // namespace wildcard
	`provider_installation { direct { include = ["*/a/*"] } }`:                     `1 Invalid provider source inclusion patterns: "*/a/*"`,                            // host wildcard
	`provider_installation { direct { include = ["a b/c/d"] } }`:                   `1 Invalid provider source inclusion patterns: "a b/c/d"`,                          // host
	"provider_installation {\n direct {}\n dev_overrides { \"a/b\" = \"c\" }\n}":   "3 Invalid provider_installation method block: before all other methods",           // overrides last
	"provider_installation {\n dev_overrides {\n \"a/b/c/d\" = \"/x\"\n }\n}":      `3 Invalid provider installation dev overrides: "a/b/c/d"`,                         // override address
	`provider_installation { dev_overrides { "a/terraform-provider-x" = "/x" } }`:  `1 Invalid provider installation dev overrides: Did you mean "a/x"?`,               // override prefix
	`provider_installation { dev_overrides { "a/b" = ["/x"] } }`:                   "1 Invalid provider_installation method block: must be a string, but it is a list", // override list
	`{"provider_installation": {"dev_overrides": {"a/b": null}}}`:                  "1 Invalid provider_installation method block: must be a string, but it is null",   // override null
	`provider_installation { dev_overrides = { "a/b" = "/x" } }`:                   "1 Invalid provider_installation method block: must contain blocks",                // override with equals sign
	`provider_installation { dev_overrides "x" { "a/b" = "/x" } }`:                 "1 Invalid provider_installation method block: labels",                             // override with label
	"provider_installation { dev_overrides {\n \"a/b\" = \"${NOT_SET}/x\"\n} }":    "2 Interpolated environment variable not set: NOT_SET",                             // unset variable
}

func TestRead_WarnsOfUnknownArguments(t *testing.T) {
	config, problems := parse(`provider_installation {
  network_mirror {
    url      = "https://mirror.example.com/p/"
    Excluded = ["acme/*"]
    inlcude  = ["acme/*"]
    color    = ["red"]
    download_retry_count = 2
  }
  direct { path = "x" }
}`)
	must.Equal(t, show(config.Installation), "2 network_mirror https://mirror.example.com/p/ [] []\n9 direct  [] []")
	want := []string{`4 A network_mirror block has no argument "Excluded": it is ignored. Did you mean "exclude"?`,
		`5 A network_mirror block has no argument "inlcude": it is ignored. Did you mean "include"?`,
		`6 A network_mirror block has no argument "color": it is ignored.`, `9 A direct block has no argument "path": it is ignored.`}
	for i, p := range problems {
		if said := fmt.Sprintf("%d %s", p.Line, p.Detail); i >= len(want) || said != want[i] || !p.Warning || p.File != "rc" {
			t.Errorf("got %+v", p)
		}
	}
	must.Equal(t, len(problems), len(want))
	_, problems = parse("provider_installation {\n direct {\n" + strings.Repeat("x = 1\n", 100) + "}\n}")
	if last := problems[len(problems)-1]; len(problems) != maxProblems+1 || !last.Warning {
		t.Errorf("of 100 unknown arguments %d are told, and %+v", len(problems), last)
	}
}

func TestRead_MethodWithAProblemIsDroppedAndTheRestKept(t *testing.T) {
	config, problems := parse(`
provider_installation {
  filesystem_mirror { path = "a" include = ["a", "b"] }
  filesystem_mirror { path = "b" }
  network_mirror {}
}`)
	must.Len(t, problems, 3)
	must.Equal(t, show(config.Installation), "4 filesystem_mirror b [] []")
}

func TestRead_DevOverrides(t *testing.T) {
	for src, want := range map[string]string{
		`provider_installation { dev_overrides { "Acme/AAA" = "/x" "example.com:8443/a/b" = "/y" "ccc" = "/z" } }`:                            "map[example.com:8443/a/b:/y registry.terraform.io/acme/aaa:/x registry.terraform.io/hashicorp/ccc:/z]", // forms of addresses
		`provider_installation { dev_overrides { "a/b" = "$HOME/x" "a/c" = "${SRC}bin/" } }`:                                                  "map[registry.terraform.io/a/b:/home/u/x registry.terraform.io/a/c:/srcbin]",                            // variables
		`provider_installation { dev_overrides { "a/b" = "x/./y/../z/" "a/c" = "" "a/d" = "~/x" } }`:                                          "map[registry.terraform.io/a/b:x/z registry.terraform.io/a/c:. registry.terraform.io/a/d:~/x]",          // paths are cleaned
		`provider_installation { dev_overrides { "a/b" = "x$" } }`:                                                                            "map[registry.terraform.io/a/b:x$]",                                                                     // a dollar sign at the end
		"provider_installation {\n dev_overrides { \"a/b\" = \"/x\"\n \"A/b\" = \"/y\" }\n dev_overrides { \"a/c\" = \"/z\" }\n direct {}\n}": "map[registry.terraform.io/a/b:/y registry.terraform.io/a/c:/z]",                                        // the last counts
		`{"provider_installation": {"dev_overrides": {"a/b": "/x"}, "direct": {}}}`:                                                           "map[registry.terraform.io/a/b:/x]",                                                                     // JSON object
		`{"provider_installation": {"dev_overrides": [{"a/b": "/x"}], "direct": [{}]}}`:                                                       "map[registry.terraform.io/a/b:/x]",                                                                     // JSON list
	} {
		config := mustParse(t, src)
		must.Equal(t, filepath.ToSlash(fmt.Sprint(config.DevOverrides)), want, src)
		for _, m := range config.Installation {
			must.Equal(t, m.Kind, Direct, src)
		}
	}
}

func TestRead_ReportsAllUnsetVariables(t *testing.T) {
	_, problems := parse(`provider_installation { dev_overrides { "a/b" = "$X/$HOME/${Y}" } }`)
	must.Len(t, problems, 2)
	must.Contain(t, problems[0].Detail, "variable X ")
	must.Contain(t, problems[1].Detail, "variable Y ")
}
