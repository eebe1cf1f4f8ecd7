package cliconfig

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestRepositoryTemplate_IsReadAsOpenTofuReadsIt has templates, each followed by its patterns, and the repository of one provider; "" means that
// the template is refused.
func TestRepositoryTemplate_IsReadAsOpenTofuReadsIt(t *testing.T) {
	widget := must.Get(openTofu.ParseProvider("example.com/acme/widget"))(t)
	for text, want := range map[string]string{
		"r.example:5000/all/${hostname}/${ namespace }/p-${type} for ": "r.example:5000/all/example.com/acme/p-widget",
		"r.example/${namespace}/${type} for example.com/*/*":           "r.example/acme/widget",
		"r.example/${type} for example.com/acme/*":                     "r.example/widget", "r.example/only for example.com/acme/widget": "r.example/only",
		"r.example/a$${x/${namespace}/${type} for example.com/*/*": "r.example/a${x/acme/widget",
		"r.example/${namespace}/${type} for ":                      "", "r.example/${namespace}/${type} for a.example/*/*,b.example/*/*": "", "r.example/${type} for example.com/*/*": "",
		"r.example/${name} for example.com/acme/widget": "", "r.example/${type for example.com/acme/widget": "", "r.example/%{ if true }x%{ endif } for example.com/acme/widget": "",
		"only for example.com/acme/widget": "", "r.example/x:1.0 for example.com/acme/widget": "", "oci://r.example/x for example.com/acme/widget": "", "user@r.example/x for example.com/acme/widget": "",
		"user:secret1@r.example/${namespace}/${type} for example.com/*/*": "", "user:secret1@r.example/%{ if true } for example.com/*/*": "", "user:secret1@r.example/${name} for example.com/*/*": "",
		"user:secret1@r.example/only for example.com/*/*": "",
	} {
		address, patterns, _ := strings.Cut(text, " for ")
		var include []getproviders.Pattern
		for pattern := range strings.SplitSeq(patterns, ",") {
			if pattern, err := openTofu.ParsePattern(pattern); err == nil {
				include = append(include, pattern)
			}
		}
		template, err := cliblock.ParseRepositoryTemplate(address, include)
		if (err == nil) != (want != "") || err == nil && template.Address(widget) != want {
			t.Errorf("%s: %q, %v", text, template.Address(widget), err)
		}
		if strings.Contains(text, "@") && (err == nil || strings.Contains(err.Error(), "user:secret1") || !strings.Contains(err.Error(), "has an @")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRead_OCICredentials(t *testing.T) {
	absolute := filepath.ToSlash(filepath.Join(t.TempDir(), "y.json"))
	text := `
oci_credentials "a.example" {
  username = "u"
  password = "p"
}
oci_credentials "a.example:5000/path/x" {
  access_token  = "a"
  refresh_token = "r"
}
oci_credentials "b.example" {
  docker_credentials_helper = "pass"
}
oci_default_credentials {
  docker_style_config_files = ["x.json", "` + absolute + `"]
  docker_credentials_helper = "store"
}`
	config := mustParseTofu(t, text)
	want := cliblock.OCI{
		Credentials: []cliblock.OCICredentials{
			{Prefix: "a.example", Username: "u", Password: "p"}, {Prefix: "a.example:5000/path/x", AccessToken: "a", RefreshToken: "r"}, {Prefix: "b.example", Helper: "pass"},
		},
		DefaultHelper: "store", Files: []string{filepath.Join(filepath.Dir(config.Files[0]), "x.json"), absolute},
	}
	must.DeepEqual(t, config.OCI, want)
	if config, problems := parse(text); len(problems) > 0 || config.OCI.Credentials != nil {
		t.Errorf("Terraform knows no such blocks: %+v, %v", config.OCI, problems)
	}
}

func TestRead_WrongOCICredentials(t *testing.T) {
	for text, want := range map[string]string{
		`oci_credentials "a.example" {}`:                                                                           "must set one of these",
		"oci_credentials \"a.example\" {\n username = \"secret1\"\n}":                                              "both username and password",
		"oci_credentials \"a.example\" {\n access_token = \"secret1\"\n}":                                          "both access_token and refresh_token",
		"oci_credentials \"a.example\" {\n username = \"secret1\"\n docker_credentials_helper = \"x\"\n}":          "must set one of these",
		"oci_credentials \"a.example/x\" {\n docker_credentials_helper = \"x\"\n}":                                 "helpers know whole registries",
		"oci_credentials \"a.example\" {\n docker_credentials_helper = \"../x\"\n}":                                "can't be the name of a program",
		"oci_credentials \"a.example/x:1\" {\n username = \"secret1\"\n password = \"p\"\n}":                       "needs the address of a registry",
		"oci_credentials \"a.example\" {\n username = [\"secret1\"]\n}":                                            "must be a string",
		"oci_default_credentials \"x\" {}":                                                                         "must be a block without labels",
		"oci_default_credentials {\n docker_style_config_files = 5\n}":                                             "must be a list of strings",
		"oci_default_credentials {\n docker_credentials_helper = \"a/b\"\n}":                                       "docker-credential-",
		"oci_default_credentials {\n docker_style_config_files = []\n discover_ambient_credentials = false\n}":     "are read only if",
		"oci_default_credentials {}\noci_default_credentials {}":                                                   "another oci_default_credentials block",
		"provider_installation {\n oci_mirror {\n repository_template = \"r.example/${namespace}/${type}\"\n }\n}": "lacks ${hostname}",
	} {
		_, problems := parseTofu(text)
		if len(problems) != 1 || !strings.Contains(problems[0].Detail, want) || strings.Contains(problems[0].Detail, "secret1") {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

func TestSource_OCIMirrorIsMadeByItsHook(t *testing.T) {
	config := mustParseTofu(t, "provider_installation {\n oci_mirror {\n repository_template = \"r.example/${namespace}/${type}\"\n include = [\"example.com/*/*\"]\n }\n}")
	var made []string
	widget := must.Get(openTofu.ParseProvider("example.com/acme/widget"))(t)
	options := SourceOptions{Product: openTofu, OCIMirror: func(address func(getproviders.Provider) string) getproviders.Source {
		made = append(made, address(widget))
		return &getproviders.FilesystemMirrorSource{Dir: t.TempDir()}
	}}
	for _, by := range []string{"", "-offline"} {
		options.Network.OfflineBy = by
		options.Cached = func(getproviders.Provider) []getproviders.CachedPackage { return nil }
		source := must.Get(config.Source(t.Context(), options))(t)
		if _, err := source.Versions(t.Context(), widget); err == nil || strings.Contains(source.Describe(widget).Name, "not asked") != (by != "") {
			t.Errorf("with %q: %s, %v", by, source.Describe(widget).Name, err)
		}
	}
	if len(made) != 2 || made[0] != "r.example/acme/widget" {
		t.Errorf("made %q", made)
	}
}
