package products

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
)

func TestChoose_NameOptionAndVariable(t *testing.T) {
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
		m := &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_PRODUCT=" + tt.variable}, StandIn: StandInFor(tt.name)}
		product, problems := Choose(m, Options{With: tt.with})
		got := product.Name + " v" + product.Version
		if len(problems) > 0 {
			got = problems[0].Detail
		}
		if got != tt.want {
			t.Errorf("by the name of %q, with %q and %q: got %s, want %s", tt.name, tt.with, tt.variable, got, tt.want)
		}
	}
}

func TestByVariable_OldNameCountsWithoutTheNewOne(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"TFDEPS_ENGINE=tofu", "OpenTofu"},
		{"TFDEPS_ENGINE=tofu TFDEPS_PRODUCT=terraform", "Terraform"},
		{"TFDEPS_ENGINE=neither TFDEPS_PRODUCT=tofu", "OpenTofu"},
		{"TFDEPS_ENGINE=tofu TFDEPS_PRODUCT=", "OpenTofu"},
		{"TFDEPS_ENGINE=OpenTofu", `the value of TFDEPS_ENGINE is "OpenTofu", and has to be "terraform" or "tofu"`},
	} {
		product, err := ByVariable(cli.Environment(strings.Fields(tt.env)))
		got := product.Name
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("with %s: got %s, want %s", tt.env, got, tt.want)
		}
	}
}

func TestChoose_EachProductHasItsVersionVariable(t *testing.T) {
	m := &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.9.8", "TFDEPS_TOFU_VERSION=1.10.0"}}
	for program, want := range map[string]string{"terraform": "1.9.8", "tofu": "1.10.0"} {
		m.StandIn = StandInFor(program)
		if product, problems := Choose(m, Options{}); problems.HasErrors() || product.Version != want {
			t.Errorf("%s: got %s, %v", program, product.Version, problems)
		}
	}
	m.StandIn = StandInFor("tofu")
	m.Env = m.Env.With("TFDEPS_TOFU_VERSION=latest")
	if _, problems := Choose(m, Options{}); !problems.HasErrors() || !strings.Contains(problems[0].Detail, "TFDEPS_TOFU_VERSION") {
		t.Errorf("a version that is none: %v", problems)
	}
}

func TestChoose_SignaturesCanBeEnforced(t *testing.T) {
	for value, want := range map[string]bool{"": true, "true": false, "1": true, "false": true} {
		m := &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_PRODUCT=tofu", "OPENTOFU_ENFORCE_GPG_VALIDATION=" + value}}
		product, problems := Choose(m, Options{})
		if problems.HasErrors() || (product.KeylessHost != "") != want {
			t.Errorf("with %q: %q, %v", value, product.KeylessHost, problems)
		}
	}
}

func TestProgram_IsNeverTfdepsItself(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and scripts need more there")
	}
	own, real := filepath.Join(t.TempDir(), "tfdeps"), filepath.Join(t.TempDir(), "terraform")
	for _, path := range []string{own, real} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "terraform")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + filepath.Dir(link) + string(os.PathListSeparator) + filepath.Dir(real)
	for _, tt := range []struct{ name, env, want, problem string }{
		{"terraform", "", real, ""},
		{"tofu", "", "", "there is no tofu on PATH"},
		{"tofu", tofuPathVariable + "=" + real, real, ""},
		{"tofu1.12.6", terraformPathVariable + "=" + real, "", "there is no tofu1.12.6 on PATH"},
		{"terraform", terraformPathVariable + "=" + link, "", "leads to tfdeps itself"},
		{"terraform", terraformPathVariable + "=" + real + "/none", "", "TFDEPS_TERRAFORM_PATH"},
	} {
		m := &cli.Meta{Executable: own, Env: cli.Environment{path, tt.env}}
		got, err := Program(m, tt.name)
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s with %s: got %q, %v", tt.name, tt.env, got, err)
		}
	}
}
