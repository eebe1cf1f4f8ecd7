package getproviders

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
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
