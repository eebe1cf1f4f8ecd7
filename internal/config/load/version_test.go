package load

import (
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
	for _, test := range []struct {
		product  string
		required []string
		want     []string
	}{
		{"1.9.5", nil, nil},
		{"1.9.5", []string{">= 1.9"}, nil},
		{"1.9.5", []string{"~> 1.9.0"}, nil},
		{"1.9.5", []string{"~> 1.8.0"}, []string{unsupported}},
		{"1.9.5", []string{"1.9.5"}, nil},
		{"1.9.5", []string{"1.9"}, []string{unsupported}},
		{"1.9.5", []string{">= 2", ">= 1", "< 1.9"}, []string{unsupported, unsupported}},
		{"1.10.0-beta1", []string{">= 1.10"}, nil},
		{"1.10.0-beta1", []string{"< 1.10"}, []string{unsupported}},
		{"1.9.5+meta", []string{"1.9.5"}, nil},
		{"1.9.5", []string{">= 1.0.0-beta1"}, []string{invalid}},
		{"1.9.5", []string{">= 1, < 2.0.0-alpha"}, []string{invalid}},
		{"1.9.5", []string{"latest"}, []string{broken}},
		{"dev", []string{">= 1", ">= 2"}, []string{"Unknown Terraform version"}},
		{"dev", nil, nil},
	} {
		module := Module{grammar: newGrammar(dialect.Of(getproviders.Terraform(test.product)))}
		for _, text := range test.required {
			module.RequiredVersions = append(module.RequiredVersions, RequiredVersion{Text: text})
		}
		var got []string
		for _, diag := range module.CheckVersion() {
			got = append(got, diag.Summary)
		}
		must.EqualSlices(t, got, test.want, test.product, test.required)
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
