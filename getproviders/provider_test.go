package getproviders

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

var terraform = Terraform("1.15.9")

func TestParseProvider(t *testing.T) {
	for given, full := range map[string]string{
		"aws":                                "registry.terraform.io/hashicorp/aws",
		"hashicorp/aws":                      "registry.terraform.io/hashicorp/aws",
		"ACME/AAA":                           "registry.terraform.io/acme/aaa",
		"registry.terraform.io/acme/aaa":     "registry.terraform.io/acme/aaa",
		"Registry.Terraform.IO:443/acme/aaa": "registry.terraform.io/acme/aaa",
		"example.com/acme/aaa":               "example.com/acme/aaa",
		"localhost:18443/acme/aaa":           "localhost:18443/acme/aaa",
		"Испытание.com/a/b":                  "испытание.com/a/b",
		"日本/プロバイダ":                           "registry.terraform.io/日本/プロバイダ",
		"acme/cafe\u0301":                    "registry.terraform.io/acme/caf\u00e9",
		"acme/" + strings.Repeat("a", 70):    "registry.terraform.io/acme/" + strings.Repeat("a", 70),
		"-/aws":                              "registry.terraform.io/-/aws",
		"terraform":                          "registry.terraform.io/hashicorp/terraform",
		"terraform.io/builtin/terraform":     "terraform.io/builtin/terraform",
		"builtin/terraform":                  "registry.terraform.io/builtin/terraform",
		"terraform-foo":                      "registry.terraform.io/hashicorp/terraform-foo",
		"terraform-provider-foo":             "registry.terraform.io/hashicorp/terraform-provider-foo",
	} {
		p := must.Get(terraform.ParseProvider(given))(t, given)
		must.Equal(t, p.String(), full, given)
		must.Equal(t, terraform.Short(p), strings.TrimPrefix(full, "registry.terraform.io/"), given)
	}
}

func TestParseProvider_Refuses(t *testing.T) {
	const (
		form      = "[hostname/][namespace/]name"
		onlyThese = "only letters, digits and dashes"
	)
	for what, refused := range map[string]map[string]string{
		"provider source string": {
			"":                        form,
			"/":                       form,
			"a//b":                    form,
			"/a":                      form,
			"a/":                      form,
			"a/b/c/d":                 form,
			"https://example.com/a/b": `Did you mean "example.com/a/b"?`,
			"https://registry.terraform.io/providers/a/b/latest": `Did you mean "a/b"?`,
			"https://example.com/providers/a/b/latest":           `Did you mean "example.com/a/b"?`,
		},
		"provider type": {
			"a_b":                         onlyThese,
			"-a":                          onlyThese,
			"terraform-":                  onlyThese,
			"a b":                         onlyThese,
			"acme/?":                      onlyThese,
			"acme/\ufffd":                 onlyThese,
			"acme/\xff":                   onlyThese,
			"acme/a.b":                    "dots",
			"acme/。。":                     "dots",
			"a--b":                        "two dashes",
			"a－－b":                        "two dashes",
			"xn--a":                       "two dashes",
			"0ℷ":                          onlyThese,                // a symbol, mapped to a letter that is written the other way
			"acme/\u00ad":                 "at least one character", // a soft hyphen, mapped to nothing
			"x.y/z_/a_b":                  onlyThese,                // the type is checked first
			"acme/terraform-foo":          `"terraform-"`,
			"acme/terraform-provider":     `"terraform-"`,
			"Acme/Terraform-Provider-Foo": `Did you mean "acme/foo"?`,
			"example.com/acme/terraform-provider-foo": `Did you mean "example.com/acme/foo"?`,
			"-/terraform-provider-foo":                `Did you mean "-/foo"?`,
		},
		"provider namespace": {
			"a.b/c":             "dots",
			"a_b/c":             `"a_b"`,
			"。。/c":              "dots",
			"?/aws":             onlyThese,
			"example.com/-/aws": "registry.terraform.io",
		},
		"provider source hostname": {
			"a..b/c/d":                 "empty label",
			"。。/c/d":                   "empty label",
			"exam_ple.com/c/d":         "disallowed",
			"example.com:99999/c/d":    "65535",
			"example.com:x/c/d":        "decimal port",
			"xn--80akhbyknj4f.com/c/d": "punycode",
		},
	} {
		for given, detail := range refused {
			_, err := terraform.ParseProvider(given)
			must.Equal(t, CodeOf(err), "invalid_address", given)
			if text := fmt.Sprint(err); !strings.HasPrefix(text, "invalid "+what+": ") || !strings.Contains(text, detail) {
				t.Errorf("%q: %q; want an invalid %s and something on %q", given, text, what, detail)
			}
		}
	}
}

func TestImpliedProvider(t *testing.T) {
	for name, want := range map[string]string{
		"aws":            "registry.terraform.io/hashicorp/aws",
		"AWS":            "registry.terraform.io/hashicorp/aws",
		"terraform":      "terraform.io/builtin/terraform",
		"terraform-like": "registry.terraform.io/hashicorp/terraform-like",
	} {
		must.Equal(t, must.Get(terraform.ImpliedProvider(name))(t).String(), want, name, want)
	}
	must.Refuse(terraform.ImpliedProvider("a_b"))(t)
}

func TestProvider_Kinds(t *testing.T) {
	tests := []struct {
		given           string
		builtIn, legacy bool
	}{
		{"aws", false, false},
		{"-/aws", false, true},
		{"terraform.io/builtin/terraform", true, false},
		{"terraform.io/builtin/other", true, false},
		{"terraform.io/acme/terraform", false, false},
		{"registry.terraform.io/builtin/terraform", false, false},
	}
	for _, tt := range tests {
		p := must.Get(terraform.ParseProvider(tt.given))(t)
		must.Equal(t, p.IsBuiltIn(), tt.builtIn)
		must.Equal(t, p.IsLegacy(), tt.legacy)
	}
}

func TestProvider_AreOrderedByHostInPunycode(t *testing.T) {
	sorted := []string{
		"a.com/z/z",
		"registry.terraform.io/acme/b",
		"registry.terraform.io/acme-2/a",
		"registry.terraform.io/hashicorp/a",
		"xb.com/a/a",
		"ä.com/a/a", // xn--4ca.com
		"z.com/a/a",
	}
	var providers []Provider
	for _, address := range sorted {
		providers = append(providers, mustParse(t, address))
	}
	if !slices.IsSortedFunc(providers, Provider.Compare) {
		t.Errorf("not in order: %v", providers)
	}
}

func TestProvider_SurvivesJSON(t *testing.T) {
	for _, address := range []string{"aws", "localhost:18443/acme/aaa", "испытание.com/a/b", "-/aws", "terraform-provider-foo"} {
		want := map[Provider]Provider{mustParse(t, address): {}}
		text := must.Get(json.Marshal(want))(t)
		got := map[Provider]Provider{}
		must.Equal(t, json.Unmarshal(text, &got), nil)
		if _, found := got[mustParse(t, address)]; !found {
			t.Errorf("%s was read as %v", text, got)
		}
	}
	for _, text := range []string{`"aws"`, `"hashicorp/aws"`, `"a/b/c/d"`, `"a..b/c/d"`, `"a.b/c/"`} {
		var p Provider
		must.Refuse(json.Unmarshal([]byte(text), &p))(t, text)
	}
}

func mustParse(t testing.TB, address string) Provider {
	t.Helper()
	return must.Get(terraform.ParseProvider(address))(t)
}

func FuzzParseProvider(f *testing.F) {
	for _, seed := range []string{"aws", "ACME/AAA", "испытание.com:8443/a/b", "。。/b", "-/aws", "terraform.io/builtin/terraform", "acme/terraform-provider-x", "a//b", "\xff", "a\u00adb", "İ/ⅷ", "0ℷ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		p, err := terraform.ParseProvider(given)
		if err != nil {
			return
		}
		for _, part := range []string{p.Hostname.String(), p.Namespace, p.Type} {
			if strings.ContainsAny(part, "/\\\x00") || strings.Trim(part, ".") == "" {
				t.Errorf("%q has the part %q, which is no name for a directory", given, part)
			}
		}
		var again Provider
		if err := again.UnmarshalText([]byte(p.String())); err != nil || again != p {
			t.Errorf("%q = %q is read back as %q (%v)", given, p, again, err)
		}
		if short, err := terraform.ParseProvider(terraform.Short(p)); short != p && !strings.HasPrefix(p.Type, "terraform-") {
			t.Errorf("%q = %q is read back from its short form as %q (%v)", given, p, short, err)
		}
	})
}

func TestParseProvider_UnderscoresInNamespaces(t *testing.T) {
	for given, want := range map[string]string{
		"name_space/a": "name_space/a", "Na__Me/a": "na__me/a", "na-_me/a": "na-_me/a", "\u00e4_B/a": "\u00e4_b/a",
		"_name/a": "", "name_/a": "", "na_me/t_e": "", "n_m!/a": "", "n_\uff0fm/a": "", "n_\uff0em/a": "", "n_--m/a": "", "n_\uff3f/a": "",
	} {
		p, err := Terraform("1.16.0").ParseProvider(given)
		if got := Terraform("").Short(p); (err == nil) != (want != "") || err == nil && (got != want || p.Validate() != nil) {
			t.Errorf("%q: %q, %v", given, got, err)
		}
		for _, other := range []Product{Terraform("1.15.9"), OpenTofu("1.12.6")} {
			must.Refuse(other.ParseProvider(given))(t, other.Name, other.Version, given)
		}
	}
}
