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
		{"", "", "Terraform", `the value of TFDEPS_ENGINE is "Terraform", and has to be "terraform" or "tofu"`},
	} {
		m := &Meta{Context: t.Context(), Env: Environment{"PATH=" + t.TempDir(), "TFDEPS_ENGINE=" + tt.variable}, StandIn: standInFor(tt.name), with: tt.with}
		engine, err := m.engine()
		got := engine.Name + " v" + engine.Version
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("by the name of %q, with %q and %q: got %s, want %s", tt.name, tt.with, tt.variable, got, tt.want)
		}
	}
}

func TestEachEngineHasItsVersionVariable(t *testing.T) {
	m := &Meta{Context: t.Context(), Env: Environment{"PATH=" + t.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.9.8", "TFDEPS_TOFU_VERSION=1.10.0"}}
	for program, want := range map[string]string{"terraform": "1.9.8", "tofu": "1.10.0"} {
		m.StandIn = standInFor(program)
		if engine, err := m.engine(); err != nil || engine.Version != want {
			t.Errorf("%s: got %s, %v", program, engine.Version, err)
		}
	}
	m.StandIn = standInFor("tofu")
	m.Env = m.Env.With("TFDEPS_TOFU_VERSION=latest")
	if _, err := m.engine(); err == nil || !strings.Contains(err.Error(), "TFDEPS_TOFU_VERSION") {
		t.Errorf("a version that is none: %v", err)
	}
}

func TestSignaturesCanBeEnforced(t *testing.T) {
	for value, want := range map[string]bool{"": true, "true": false, "1": true, "false": true} {
		m := &Meta{Context: t.Context(), Env: Environment{"PATH=" + t.TempDir(), "TFDEPS_ENGINE=tofu", "OPENTOFU_ENFORCE_GPG_VALIDATION=" + value}}
		engine, err := m.engine()
		if err != nil || (engine.KeylessHost != "") != want {
			t.Errorf("with %q: %q, %v", value, engine.KeylessHost, err)
		}
	}
}
