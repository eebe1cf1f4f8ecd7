package command

import (
	"strings"
	"testing"
)

func TestWhoseWorkIsDone(t *testing.T) {
	for _, tt := range []struct {
		name, with, variable string
		want                 string
	}{
		{"", "", "", "Terraform v1.15.9"},
		{"", "", "terraform", "Terraform v1.15.9"},
		{"", "", "tofu", "OpenTofu v1.12.6"},
		{"terraform", "", "tofu", "Terraform v1.15.9"},
		{"terraform1.9.8", "", "tofu", "Terraform v1.9.8"},
		{"tofu", "", "", "OpenTofu v1.12.6"},
		{"tofu1.11.2", "", "terraform", "OpenTofu v1.11.2"},
		{"tofu1.11.2", "terraform", "", "Terraform v1.15.9"},
		{"terraform1.9.8", "tofu", "", "OpenTofu v1.12.6"},
		{"", "tofu1.10.0", "terraform", "OpenTofu v1.12.6"},
		{"", "", "Terraform", `the value of TFDEPS_PRODUCT is "Terraform", and has to be "terraform" or "tofu"`},
	} {
		m := &Meta{Context: t.Context(), Env: Environment{"PATH=" + t.TempDir(), "TFDEPS_PRODUCT=" + tt.variable}, StandIn: standInFor(tt.name), with: tt.with}
		product, err := m.product()
		got := product.Name + " v" + product.Version
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("by the name of %q, with %q and %q: got %s, want %s", tt.name, tt.with, tt.variable, got, tt.want)
		}
	}
}

func TestProduct_TheVariablesOldNameCountsWithoutTheNewOne(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"TFDEPS_ENGINE=tofu", "OpenTofu"},
		{"TFDEPS_ENGINE=tofu TFDEPS_PRODUCT=terraform", "Terraform"},
		{"TFDEPS_ENGINE=neither TFDEPS_PRODUCT=tofu", "OpenTofu"},
		{"TFDEPS_ENGINE=tofu TFDEPS_PRODUCT=", "OpenTofu"},
		{"TFDEPS_ENGINE=OpenTofu", `the value of TFDEPS_ENGINE is "OpenTofu", and has to be "terraform" or "tofu"`},
	} {
		product, err := productByVariable(Environment(strings.Fields(tt.env)))
		got := product.Name
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("with %s: got %s, want %s", tt.env, got, tt.want)
		}
	}
}

func TestEachProductHasItsVersionVariable(t *testing.T) {
	m := &Meta{Context: t.Context(), Env: Environment{"PATH=" + t.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.9.8", "TFDEPS_TOFU_VERSION=1.10.0"}}
	for program, want := range map[string]string{"terraform": "1.9.8", "tofu": "1.10.0"} {
		m.StandIn = standInFor(program)
		if product, err := m.product(); err != nil || product.Version != want {
			t.Errorf("%s: got %s, %v", program, product.Version, err)
		}
	}
	m.StandIn = standInFor("tofu")
	m.Env = m.Env.With("TFDEPS_TOFU_VERSION=latest")
	if _, err := m.product(); err == nil || !strings.Contains(err.Error(), "TFDEPS_TOFU_VERSION") {
		t.Errorf("a version that is none: %v", err)
	}
}

func TestSignaturesCanBeEnforced(t *testing.T) {
	for value, want := range map[string]bool{"": true, "true": false, "1": true, "false": true} {
		m := &Meta{Context: t.Context(), Env: Environment{"PATH=" + t.TempDir(), "TFDEPS_PRODUCT=tofu", "OPENTOFU_ENFORCE_GPG_VALIDATION=" + value}}
		product, err := m.product()
		if err != nil || (product.KeylessHost != "") != want {
			t.Errorf("with %q: %q, %v", value, product.KeylessHost, err)
		}
	}
}
