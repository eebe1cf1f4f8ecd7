package cliconfig_test

import (
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/hashicorp/hcl"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestConfig_WriteWithSaysTheSame reads several written configurations, in both syntaxes.
func TestConfig_WriteWithSaysTheSame(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"main": `
disable_checkpoint = true
plugin_cache_dir = "/first"
host "one.example.com" { services = { "providers.v1" = "https://a/" } }
host "two.example.com" { services = { "providers.v1" = "https://b/" } }
credentials "one.example.com" { token = "x\"y\\z" }
credentials_helper "store" { args = ["a b", "c"] }
provider_installation {
  dev_overrides { "acme/dev" = "/dev dir" }
  filesystem_mirror {
    path    = "/mirror"
    include = ["acme/*"]
  }
  direct { exclude = ["acme/*"] }
}
unknown_thing "label" { nested = { a = 1 } }
`,
		"d/more.tfrc.json": `{"plugin_cache_dir": "/second", "credentials": {"three.example.com": [{"token": "three"}]}, "plugin_cache_may_break_dependency_lock_file": true}`,
	} {
		must.Write(t, filepath.Join(dir, name), content)
	}
	none := func(string) string { return "" }
	read := func(at cliconfig.Locations) *cliconfig.Config {
		t.Helper()
		config, problems := cliconfig.Read(t.Context(), at, none, getproviders.Terraform("1.15.9"))
		must.Len(t, problems, 0)
		return config
	}
	before := read(cliconfig.Locations{File: filepath.Join(dir, "main"), Dir: filepath.Join(dir, "d")})
	text := must.Get(before.WriteWith(map[hosts.Hostname]map[string]any{"two.example.com": {
		"providers.v1": "http://127.0.0.1:1/x/", "login.v1": map[string]any{"client": "c", "ports": []any{float64(10000), float64(10010)}}}}))(t)
	path := filepath.Join(dir, "written")
	must.Write(t, path, text)
	after := read(cliconfig.Locations{File: path})
	must.Equal(t, after.Hosts["two.example.com"]["providers.v1"], "http://127.0.0.1:1/x/", string(text))
	for _, host := range []hosts.Hostname{"one.example.com", "three.example.com"} {
		want, _ := before.Tokens.Token(t.Context(), host)
		if got, _ := after.Tokens.Token(t.Context(), host); got != want || got == "" {
			t.Errorf("the token of %s is another one:\n%s", host, text)
		}
	}
	for i := range after.Installation {
		after.Installation[i].File, after.Installation[i].Line = before.Installation[i].File, before.Installation[i].Line
	}
	delete(after.Hosts, "two.example.com")
	delete(before.Hosts, "two.example.com")
	for _, field := range []string{"Hosts", "Helper", "Installation", "DevOverrides", "PluginCacheDir"} {
		was, is := reflect.ValueOf(before).Elem().FieldByName(field).Interface(), reflect.ValueOf(after).Elem().FieldByName(field).Interface()
		must.DeepEqual(t, is, was, field, string(text))
	}
	for _, part := range []string{`"disable_checkpoint":true`, `"unknown_thing":[{"label":[{"nested":[{"a":1}]}]}]`, `"ports":[10000,10010]`} {
		must.Contain(t, string(text), part)
	}
}

// The services of a host are written unchanged, and can't add settings of the user.
func TestConfig_WriteWithWritesNothingThatAHostSaysAsCode(t *testing.T) {
	var config cliconfig.Config
	for _, text := range []string{
		`${`, `$${`, `${"a"}`, `x${y`, `}`, `"`, `\`, `\"`, `\${`, "\n", "a\r\nb", "\t", "\x00", "\x1b[m", "\ufeff", "\ue123", "\u2028", "é\U0001f600", `%{if}`,
		`{ } } } credentials_helper evil { args = [] } x {`, `\u0024{`, "<<E\nx\nE\n", `/*`, `#`,
	} {
		services := map[string]any{"a": map[string]any{"x": text}, "b": text, "c": "plain", text: "z"}
		written := must.Get(config.WriteWith(map[hosts.Hostname]map[string]any{"evil.example.com": services, "z.example.com": {"d": "plain"}}))(t)
		var read struct {
			Host map[string]struct{ Services map[string]any }
			Rest []string `hcl:",unusedKeys"`
		}
		if err := hcl.Unmarshal(written, &read); err != nil || len(read.Rest) > 0 || len(read.Host) != 2 {
			t.Errorf("%q: %v, %+v of\n%s", text, err, read, written)
			continue
		}
		got := read.Host["evil.example.com"].Services
		inner, _ := got["a"].([]map[string]any)
		if got["b"] != text || got[text] != "z" || len(inner) != 1 || inner[0]["x"] != text || read.Host["z.example.com"].Services["d"] != "plain" {
			t.Errorf("%q: got %q of\n%s", text, read, written)
		}
	}
}

// TestConfig_WriteWithFindsTheFilesOfDocker reads a written configuration in another directory than the
// original's.
func TestConfig_WriteWithFindsTheFilesOfDocker(t *testing.T) {
	t.Parallel()
	absolute := filepath.Join(t.TempDir(), "y.json")
	for name, content := range map[string]string{
		"main.tfrc":      "oci_default_credentials {\n  docker_style_config_files = [\"sub/x.json\", " + strconv.Quote(absolute) + "]\n}\n",
		"main.tfrc.json": `{"oci_default_credentials": [{"docker_style_config_files": ["sub/x.json", ` + strconv.Quote(absolute) + `]}]}`,
	} {
		dir := t.TempDir()
		read := func(path, content string) *cliconfig.Config {
			t.Helper()
			must.Write(t, path, content)
			config, problems := cliconfig.Read(t.Context(), cliconfig.Locations{File: path}, func(string) string { return "" }, getproviders.OpenTofu("1.12.6"))
			must.Len(t, problems, 0)
			return config
		}
		text := must.Get(read(filepath.Join(dir, name), content).WriteWith(nil))(t)
		after := read(filepath.Join(t.TempDir(), "written"), string(text))
		must.DeepEqual(t, after.OCI.Files, []string{filepath.Join(dir, "sub/x.json"), absolute}, name)
	}
}
