package load

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestCheckVersion_ComparesTheProductsCoreVersion(t *testing.T) {
	const (
		unsupported = "Unsupported Terraform Core version"
		invalid     = "Invalid required_version constraint"
		broken      = "Invalid version constraint"
	)
	for text, want := range map[string]string{ // a version, and constraints behind bars; what is said, with bars between it
		"1.9.5":                     "",
		"1.9.5|>= 1.9":              "",
		"1.9.5|~> 1.9.0":            "",
		"1.9.5|~> 1.8.0":            unsupported,
		"1.9.5|1.9.5":               "",
		"1.9.5|1.9":                 unsupported,
		"1.9.5|>= 2|>= 1|< 1.9":     unsupported + "|" + unsupported,
		"1.10.0-beta1|>= 1.10":      "",
		"1.10.0-beta1|< 1.10":       unsupported,
		"1.9.5+meta|1.9.5":          "",
		"1.9.5|>= 1.0.0-beta1":      invalid,
		"1.9.5|>= 1, < 2.0.0-alpha": invalid,
		"1.9.5|latest":              broken,
		"dev|>= 1|>= 2":             "Unknown Terraform version",
		"dev":                       "",
	} {
		words := strings.Split(text, "|")
		module := Module{grammar: newGrammar(dialect.Of(getproviders.Terraform(words[0])))}
		for _, required := range words[1:] {
			module.RequiredVersions = append(module.RequiredVersions, RequiredVersion{Text: required})
		}
		var got []string
		for _, diag := range module.CheckVersion() {
			got = append(got, diag.Summary)
		}
		must.Equal(t, strings.Join(got, "|"), want, text)
	}
}

func TestCheckVersion_NamesTheProduct(t *testing.T) {
	other := getproviders.Terraform("1.8.0")
	other.Name = "OpenTofu"
	module, _ := LoadModule(writeFiles(t, texts{"main.tf": "terraform {\n  required_version = \">= 99\"\n}\n"}), other)
	diags := module.CheckVersion()
	if len(diags) != 1 || diags[0].Summary != "Unsupported OpenTofu Core version" || diags[0].Subject.Start.Line != 2 {
		t.Errorf("got %v", diags)
	}
}
