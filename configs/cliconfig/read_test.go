package cliconfig

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// files maps slash-separated names to contents.
type files = map[string]string

// home makes a directory with the given files: "rc" is the main file, and all
// others are in "d".
func home(t testing.TB, files files) Locations {
	t.Helper()
	at := Locations{File: filepath.Join(t.TempDir(), "rc"), Dir: filepath.Join(t.TempDir(), "d")}
	for name, content := range files {
		path := at.File
		if name != "rc" {
			path = filepath.Join(at.Dir, name)
		}
		must.Write(t, path, content)
	}
	return at
}

func mustRead(t testing.TB, at Locations, env func(string) string) *Config {
	t.Helper()
	config, problems := Read(t.Context(), at, env, terraform)
	must.Len(t, problems, 0)
	return config
}

func TestRead_MergesFiles(t *testing.T) {
	config := mustRead(t, home(t, files{
		"rc": `
host "a.com" { services = { "providers.v1" = "/main/" } }
host "main.com" {}
credentials "a.com" { token = "main" }
credentials "b.com" { token = "main" }
credentials_helper "x" { args = ["main"] }
`,
		"a.tfrc": `
host "A.com" { services = { "modules.v1" = "/a/" } }
credentials "b.com" { }
provider_installation { direct {} }
`,
		"b.tfrc":                `credentials_helper "x" { args = ["b"] }`,
		"credentials.tfrc.json": `{"credentials": {"a.com": {"token": "json"}}}`,
		"ignored.json":          `host "ignored.com" {}`,
		"ignored.tfrc.bak":      `not even HCL`,
		"sub.d/a.tfrc":          `host "ignored.com" {}`,
	}), testEnv)
	must.Equal(t, fmt.Sprint(config.Hosts), "map[a.com:map[modules.v1:/a/] main.com:map[]]")
	for host, want := range map[hosts.Hostname]string{"a.com": "json", "b.com": ""} {
		must.Equal(t, tokenOf(t, config, host), want, host)
	}
	if fmt.Sprint(*config.Helper) != "{x [b]}" || show(config.Installation) != "4 direct  [] []" {
		t.Errorf("helper %v, installation %v", config.Helper, config.Installation)
	}
}

func TestRead_SaysWhereSettingsStand(t *testing.T) {
	at := home(t, files{
		"rc":     "plugin_cache_dir = \"/cache\"\ncredentials \"B\u00fccher.example\" {\n  token = \"secret\"\n}\nprovider_installation {\n  dev_overrides {}\n  direct {}\n}\n",
		"a.tfrc": "\nhost \"a.example\" {}\ncredentials_helper \"h\" { args = [\"secret\"] }\ndisable_checkpoint = true\n",
		"b.tfrc": "not even HCL",
	})
	config, problems := Read(t.Context(), at, testEnv, terraform)
	must.Len(t, problems, 1)
	var places []string
	for _, s := range config.Settings {
		places = append(places, fmt.Sprintf("%s %s %s", filepath.Base(s.Place()), s.Name, s.Label))
	}
	want := []string{"rc:1 plugin_cache_dir ", "rc:2 credentials b\u00fccher.example", "rc:6 dev_overrides ", "rc:7 direct ", "a.tfrc:2 host a.example", "a.tfrc:3 credentials_helper h"}
	must.EqualSlices(t, places, want)
	must.Len(t, config.Files, 3)
	must.Equal(t, filepath.Base(config.Files[2]), "b.tfrc")
	must.Equal(t, (cliblock.Setting{File: "f"}).Place(), "f", "a place without a line isn't the file")
}

// TestRead_PluginCacheDir has the main file, a.tfrc, b.tfrc and the variable, separated by bars, and the resulting directory.
func TestRead_PluginCacheDir(t *testing.T) {
	for text, want := range map[string]string{
		"": "", // none
		`plugin_cache_dir = "/main"|plugin_cache_dir = "/a"`:   "/main",          // main file first
		`|plugin_cache_dir = "/a"|plugin_cache_dir = "/b"`:     "/a",             // then by name
		`plugin_cache_dir = ""|plugin_cache_dir = "/a"`:        "/a",             // empty is none
		`{"plugin_cache_dir": null}|plugin_cache_dir = "/a"`:   "/a",             // null is none
		`plugin_cache_dir = "/main"|||/env`:                    "/env",           // the variable before all
		"plugin_cache_dir = \"/x\"\nplugin_cache_dir = \"/y\"": "/y",             // the last in a file
		`plugin_cache_dir = "$HOME/c/${SRC}$NOT_SET"`:          "/home/u/c//src", // variables in a file
		"|||$HOME/x":           "$HOME/x", // no variables in the variable
		`plugin_cache_dir = 5`: "5",       // number
	} {
		parts := strings.Split(text+"|||", "|")
		config := mustRead(t, home(t, files{"rc": parts[0], "a.tfrc": parts[1], "b.tfrc": parts[2]}), func(name string) string {
			if name == "TF_PLUGIN_CACHE_DIR" {
				return parts[3]
			}
			return testEnv(name)
		})
		must.Equal(t, config.PluginCacheDir, want, text)
	}
}

func TestRead_SettingsOfTheWrongKind(t *testing.T) {
	for src, want := range map[string]string{
		`plugin_cache_dir = true`:                                 "must be a string, but it is a bool",
		`plugin_cache_dir = ["x"]`:                                "must be a string, but it is a list",
		`plugin_cache_may_break_dependency_lock_file = "true"`:    "must be true or false, but it is a string",
		`plugin_cache_may_break_dependency_lock_file = 1`:         "must be true or false, but it is a number",
		`{"plugin_cache_may_break_dependency_lock_file": null}`:   "must be true or false, but it is null",
		`{"Plugin_Cache_Dir": {"x": "y"}}`:                        "The value of Plugin_Cache_Dir must be a string, but it is a map",
		`plugin_cache_may_break_dependency_lock_file { x = "y" }`: "must be true or false, but it is a map",
	} {
		_, problems := parse(src)
		if len(problems) != 1 || problems[0].Line != 1 || !strings.Contains(problems[0].Detail, want) {
			t.Errorf("%s: got %+v", src, problems)
		}
	}
}

func TestRead_FilesThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Write(t, file, "")
	for _, path := range []string{filepath.Join(dir, "missing"), filepath.Join(dir, "no/such"), filepath.Join(file, "x")} {
		config, problems := Read(t.Context(), Locations{File: path, required: true}, testEnv, terraform)
		if config == nil || len(problems) != 1 || !problems[0].Warning || problems[0].File != path ||
			problems[0].Summary != "Unable to open CLI configuration file" || !strings.Contains(problems[0].Detail, "does not exist.") {
			t.Errorf("%s: got %+v, %+v", path, config, problems)
		}
		mustRead(t, Locations{File: path, Dir: path}, testEnv)
	}
	mustRead(t, Locations{}, testEnv)
	mustRead(t, Locations{Dir: file}, testEnv)
}

func TestRead_FilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	at := home(t, files{"big.tfrc": strings.Repeat("# much too long\n", maxBytes/10), "dir.tfrc/x": ""})
	at.File = dir
	_, problems := Read(t.Context(), at, testEnv, terraform)
	var files []string
	for _, p := range problems {
		if p.Warning || p.Summary != "Unable to read CLI configuration file" || !strings.Contains(p.Detail, p.File) {
			t.Errorf("odd problem %+v", p)
		}
		files = append(files, filepath.Base(p.File))
	}
	must.Equal(t, fmt.Sprint(files), fmt.Sprint([]string{filepath.Base(dir), "big.tfrc", "dir.tfrc"}))
}

func TestRead_UnreadableDirectory(t *testing.T) {
	if _, problems := Read(t.Context(), Locations{Dir: "no system has such a \x00 name"}, testEnv, terraform); len(problems) != 1 || problems[0].Warning {
		t.Errorf("got %+v", problems)
	}
}

func TestRead_ReportsProblemsOfAllFilesInOrderAndKeepsTheRest(t *testing.T) {
	at := home(t, files{
		"rc":     "provider_installation {}\nhost = 1\nhost \"a b\" {}\nhost \"good.com\" { services = { \"providers.v1\" = \"/p/\", \"modules.v1\" = [] } }",
		"a.tfrc": "\n\nprovider_installation {}",
		"b.tfrc": "}",
		"c.tfrc": "credentials_helper \"x\" {}",
		"d.tfrc": "credentials_helper \"y\" {}",
	})
	config, problems := Read(t.Context(), at, testEnv, terraform)
	must.Equal(t, config.Hosts["good.com"]["providers.v1"], "/p/")
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line))
	}
	must.Equal(t, fmt.Sprint(got), "[rc:2 rc:3 rc:4 a.tfrc:3 b.tfrc:1 d.tfrc:1]")
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", `host "a.com" { services = { "providers.v1" = "https://x/" } }`, `{"host": {"a.com": {"services": {"modules.v1": "x"}}}}`,
		`host "Bücher.Example:0443" {}`, "host \"a b\" {\n services = [1, \"${x(\"y\")}\", <<E\nfoo\nE\n]\n}", "a = <<-E\n  b\n  E\n", `{"host": [{"a": null}, [], 1e9, "\u00e9\ud800"]}`,
		"plugin_cache_dir = 0x1f\ncredentials \"x\" \"y\" {}", "provider_installation {\n dev_overrides {\n \"a/b\" = \"$HOME/c\"\n }\n}",
		"a = <<\n", "a = <<-E\n\n", "a = <<-E\n \tE\n", `{`, `{}}`, `[`, `a = "\u12"`, "\ufeff", "a=-", "#", "/*", "a.b = 08", `"a" "b" "c" {}`, `"${" = 1`,
		`credentials "a.com" { token = "x" }`, `{"credentials": {"a.com": {"token": 5}}, "credentials_helper": [{"x": {"args": [1, "y"]}}]}`,
		"provider_installation {\n direct { include = [\"*/*/*\"] }\n network_mirror { url = \"https://x/\" }\n filesystem_mirror { path = \"y\" exclude = [\"a.com/b/c\"] }\n}",
		`{"provider_installation": {"dev_overrides": {"a/b": "${SRC"}, "direct": [{}], "network_mirror": {"url": "http://[::1]:80/"}}}`,
		"provider_installation {\n direct { fnclude = [\"*/*/*\"] }\n}",
		"plugin_cache_dir = \"$\"\nplugin_cache_may_break_dependency_lock_file = true",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		config, problems := parse(string(src))
		if config == nil || config.Hosts == nil || config.DevOverrides == nil || config.Tokens == nil {
			t.Fatal("no configuration")
		}
		if isJSON(src) && len(problems) == 0 && !json.Valid(src) {
			t.Errorf("accepted invalid JSON")
		}
		for _, p := range problems {
			if p.Summary == "" || p.Detail == "" || p.File != "rc" || p.Line < 0 || p.Line > 1+strings.Count(string(src), "\n") {
				t.Errorf("odd problem %+v", p)
			}
		}
		for name, services := range config.Hosts {
			if again, err := hosts.ParseHostname(name.String()); err != nil || again != name || services == nil {
				t.Errorf("odd host %q: %v", name, err)
			}
		}
		for _, m := range config.Installation {
			if m.Kind.String() == "unknown" || (m.Kind == Direct) != (m.Location == "") || m.Line < 1 {
				t.Errorf("odd method %+v", m)
			}
		}
		for p, dir := range config.DevOverrides {
			if p == (getproviders.Provider{}) || dir == "" {
				t.Errorf("odd override %v: %q", p, dir)
			}
		}
	})
}
