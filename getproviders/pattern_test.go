package getproviders

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestParsePattern(t *testing.T) {
	product := Terraform("1.15.9")
	for given, want := range map[string]string{
		"hashicorp/aws":           "registry.terraform.io/hashicorp/aws",
		"HashiCorp/AWS":           "registry.terraform.io/hashicorp/aws",
		"hashicorp/*":             "registry.terraform.io/hashicorp/*",
		"*/*":                     "registry.terraform.io/*/*",
		"*/*/*":                   "*/*/*",
		"Example.com:443/*/*":     "example.com/*/*",
		"example.com:8443/acme/*": "example.com:8443/acme/*",
		"Испытание.com/acme/a-b":  "испытание.com/acme/a-b",
	} {
		must.Equal(t, must.Get(product.ParsePattern(given))(t).String(), want, given, want)
	}
}

func TestParsePatternErrors(t *testing.T) {
	product := Terraform("1.15.9")
	for given, want := range map[string]string{
		"":                          "must have the form",
		"aws":                       "must have the form",
		"a/b/c/d":                   "must have the form",
		"a//b":                      "must have the form",
		"*/aws":                     "type has to be",
		"*/hashicorp/*":             "namespace and type have to be",
		"*/*/aws":                   "type has to be",
		"example.com/*/a":           "type has to be",
		"hashicorp/a.b":             "dots are not allowed",
		"hashi--corp/*":             "two dashes",
		"xn--80ak6/*/*":             "",
		"https://x.com/*":           "must have the form",
		"registry.terraform.io/-/a": "can't be used",
		"hashicorp/a*":              "",
		"example.com/*a/*":          "",
	} {
		must.Contain(t, must.ErrorOf(product.ParsePattern(given)), want, given)
	}
}

func TestPattern_Matches(t *testing.T) {
	product := Terraform("1.15.9")
	for _, row := range []struct {
		pattern, provider string
		want              bool
	}{
		{"hashicorp/aws", "hashicorp/aws", true},
		{"hashicorp/aws", "hashicorp/google", false},
		{"hashicorp/*", "hashicorp/google", true},
		{"hashicorp/*", "example.com/hashicorp/google", false},
		{"*/*", "acme/thing", true},
		{"*/*", "example.com/acme/thing", false},
		{"*/*/*", "example.com/acme/thing", true},
		{"example.com/*/*", "example.com:8443/acme/thing", false},
	} {
		pattern := must.Get(product.ParsePattern(row.pattern))(t)
		p := must.Get(product.ParseProvider(row.provider))(t)
		must.Equal(t, pattern.Matches(p), row.want, row.pattern, row.provider)
		if !Pattern(p).Matches(p) {
			t.Errorf("the exact pattern of %s doesn't match it", p)
		}
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, seed := range []string{"hashicorp/aws", "*/*", "example.com:8443/a/*", "*/*/*", "a/b/c/d", "", "é.com/x/y"} {
		f.Add(seed)
	}
	product := Terraform("1.15.9")
	f.Fuzz(func(t *testing.T, given string) {
		pattern, err := product.ParsePattern(given)
		if err != nil {
			return
		}
		again, err := product.ParsePattern(pattern.String())
		if err != nil || again != pattern {
			t.Errorf("%q is %v, and that is %v, %v", given, pattern, again, err)
		}
	})
}

// oddPatterns are valid and invalid patterns. None has a space, because Terraform wraps its
// messages.
var oddPatterns = map[bool][]string{
	true: strings.Fields(`
		hashicorp/aws HashiCorp/AWS hashicorp/* */* */*/* example.com/*/* example.com/acme/* Example.com:443/a/b example.com:08443/a/b
		bücher.example/*/* BÜCHER.example/a/b a/ü Ü/x a/ß a/b-c 1/1 ０/a localhost/a/b 127.0.0.1/a/b example.com./a/b
		hashicorp/terraform-provider-aws terraform.io/builtin/terraform terraform/terraform`),
	false: append(strings.Fields(`
		* aws a/b/c/d a//b /a/b a/b/ // */aws example.com/*/a */hashicorp/* */hashicorp/aws */*/aws hashicorp/a* ex*ample.com/*/*
		example.com/*a/* a/** hashicorp/a.b hashi--corp/* a/b_c a/-b a/b- -/aws -/* registry.terraform.io/-/aws example.com/-/*
		xn--bcher-kva.example/*/* example..com/a/b .example.com/a/b [::1]/a/b example.com:abc/a/b example.com:/a/b https://example.com/*
`), ""),
}

// TestPattern_AgreeWithRealTerraform puts each pattern into a block of its own, so that Terraform
// reports each.
func TestPattern_AgreeWithRealTerraform(t *testing.T) {
	t.Parallel()
	terraform := peertest.LookTerraform(t)
	var config strings.Builder
	for _, pattern := range slices.Concat(oddPatterns[true], oddPatterns[false]) {
		fmt.Fprintf(&config, "  direct {\n    include = [%q]\n  }\n", pattern)
	}
	dir := t.TempDir()
	cli := filepath.Join(dir, "cli.tfrc")
	must.Write(t, cli, "provider_installation {\n"+config.String()+"}\n")
	out, err := peertest.Command(t.Context(), terraform, dir, []string{"TF_CLI_CONFIG_FILE=" + cli, "HOME=" + dir}, "version").CombinedOutput()
	must.Succeed(t, err, out)
	said := strings.Join(strings.Fields(strings.ReplaceAll(string(out), "│", "")), " ")
	for valid, patterns := range oddPatterns {
		for _, pattern := range patterns {
			must.Equal(t, !strings.Contains(said, fmt.Sprintf("matching pattern %q", pattern)), valid, pattern)
			must.Equal(t, must.ErrorOf(Terraform("1.15.9").ParsePattern(pattern)) == nil, valid, pattern)
		}
	}
}
