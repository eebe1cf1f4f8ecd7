package products

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestChoose_NameOptionAndVariable(t *testing.T) {
	for _, tt := range []struct {
		name, with, variable string
		want                 string
	}{
		{"", "", "", "Terraform v" + defaultTerraform},
		{"", "", "terraform", "Terraform v" + defaultTerraform},
		{"", "", "tofu", "OpenTofu v1.12.6"},
		{"terraform", "", "tofu", "Terraform v" + defaultTerraform},
		{"terraform1.9.8", "", "tofu", "Terraform v1.9.8"},
		{"tofu", "", "", "OpenTofu v1.12.6"},
		{"tofu1.11.2", "", "terraform", "OpenTofu v1.11.2"},
		{"tofu1.11.2", "terraform", "", "Terraform v" + defaultTerraform},
		{"terraform1.9.8", "tofu", "", "OpenTofu v1.12.6"},
		{"", "tofu1.10.0", "terraform", "OpenTofu v1.12.6"},
		{"", "", "Terraform", `the value of TFDEPS_PRODUCT is "Terraform", and has to be "terraform" or "tofu"`},
	} {
		m := &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_PRODUCT=" + tt.variable}, StandIn: StandInFor(tt.name)}
		product, _, problems := ChooseWithOrigin(m, Options{With: tt.with})
		got := product.Name + " v" + product.Version
		if len(problems) > 0 {
			got = problems[0].Detail
		}
		must.Equal(t, got, tt.want, tt.name, tt.with, tt.variable)
	}
}

func TestByVariable_OldNameCountsWithoutTheNewOne(t *testing.T) {
	for env, want := range map[string]string{
		"TFDEPS_ENGINE=tofu":                          "OpenTofu",
		"TFDEPS_ENGINE=tofu TFDEPS_PRODUCT=terraform": "Terraform",
		"TFDEPS_ENGINE=neither TFDEPS_PRODUCT=tofu":   "OpenTofu",
		"TFDEPS_ENGINE=tofu TFDEPS_PRODUCT=":          "OpenTofu",
		"TFDEPS_ENGINE=OpenTofu":                      `the value of TFDEPS_ENGINE is "OpenTofu", and has to be "terraform" or "tofu"`,
	} {
		product, err := ByVariable(cli.Environment(strings.Fields(env)))
		got := product.Name
		if err != nil {
			got = err.Error()
		}
		must.Equal(t, got, want, env)
	}
}

func TestChoose_EachProductHasItsVersionVariable(t *testing.T) {
	m := &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.9.8", "TFDEPS_TOFU_VERSION=1.10.0"}}
	for program, want := range map[string]string{"terraform": "1.9.8", "tofu": "1.10.0"} {
		m.StandIn = StandInFor(program)
		if product, problems := Choose(m); problems.HasErrors() || product.Version != want {
			t.Errorf("%s: got %s, %v", program, product.Version, problems)
		}
	}
	m.StandIn = StandInFor("tofu")
	m.Env = m.Env.With("TFDEPS_TOFU_VERSION=latest")
	if _, problems := Choose(m); !problems.HasErrors() || !strings.Contains(problems[0].Detail, "TFDEPS_TOFU_VERSION") {
		t.Errorf("a version that is none: %v", problems)
	}
}

func TestChoose_SignaturesCanBeEnforced(t *testing.T) {
	for value, want := range map[string]bool{"": true, "true": false, "1": true, "false": true} {
		m := &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_PRODUCT=tofu", "OPENTOFU_ENFORCE_GPG_VALIDATION=" + value}}
		product, problems := Choose(m)
		if problems.HasErrors() || product.NeedsKeys == want {
			t.Errorf("with %q: %t, %v", value, product.NeedsKeys, problems)
		}
	}
}

func TestProgram_IsNeverTfdepsItself(t *testing.T) {
	exe, linkFile := "", os.Symlink
	if runtime.GOOS == "windows" { // where symbolic links take a privilege
		exe, linkFile = ".exe", os.Link
	}
	own, real := filepath.Join(t.TempDir(), "tfdeps"+exe), filepath.Join(t.TempDir(), "terraform"+exe)
	copied, wrapped, link := filepath.Join(t.TempDir(), "terraform"+exe), filepath.Join(t.TempDir(), "tofu-bin"+exe), filepath.Join(t.TempDir(), "terraform"+exe)
	for path, content := range map[string]string{own: "program", copied: "program", real: "real one", wrapped: "wrapper"} {
		must.Succeed(t, peertest.WriteProgram(path, []byte(content)))
	}
	must.Succeed(t, linkFile(own, link))
	list := func(files ...string) string {
		var dirs []string
		for _, file := range files {
			dirs = append(dirs, filepath.Dir(file))
		}
		return "PATH=" + strings.Join(dirs, string(os.PathListSeparator))
	}
	path, withWrapped := list(link, copied, real), list(wrapped, copied, real)
	for _, tt := range []struct{ name, path, env, refused, want, problem string }{
		{"terraform", path, "", "", real, ""},
		{"terraform", list(copied, link, real), "", "", real, ""},
		{"terraform", path, "", real, "", "there is no terraform on PATH"},
		{"terraform-bin", path, "", "", real, ""},
		{"terraform1.15.9", path, "", "", "", "there is no terraform1.15.9 on PATH"},
		{"tofu", path, "", "", "", "there is no tofu on PATH"},
		{"tofu", withWrapped, "", "", wrapped, ""},
		{"tofu-bin", withWrapped, "", "", wrapped, ""},
		{"tofu", path, tofuPathVariable + "=" + real, "", real, ""},
		{"tofu1.12.6", path, terraformPathVariable + "=" + real, "", "", "there is no tofu1.12.6 on PATH"},
		{"terraform", path, terraformPathVariable + "=" + link, "", "", "leads to tfdeps itself"},
		{"terraform", path, terraformPathVariable + "=" + copied, "", "", "leads to tfdeps itself"},
		{"terraform", path, terraformPathVariable + "=" + real, real, "", "leads to tfdeps itself"},
		{"terraform-bin", path, terraformPathVariable + "=" + real + "/none", "", "", "TFDEPS_TERRAFORM_PATH"},
	} {
		m := &cli.Meta{Executable: own, Env: cli.Environment{tt.path, tt.env}}
		got, err := Program(m, tt.name, func(path string) bool { return path == tt.refused })
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s with %s and %s: got %q, %v", tt.name, tt.path, tt.env, got, err)
		}
	}
}

func TestStandInFor_NamesOfSetupActionsAndVersionManagers(t *testing.T) {
	for name, want := range map[string]string{
		"terraform":        "terraform ",
		"terraform-bin":    "terraform-bin ",
		"tofu-bin.exe":     "tofu-bin ",
		"terraform1.5.7":   "terraform1.5.7 1.5.7",
		"terraform_1.5.7":  "terraform_1.5.7 1.5.7",
		"terraform-v1.5.7": "terraform-v1.5.7 1.5.7",
		"tofu@1.10.0":      "tofu@1.10.0 1.10.0",
		"terraform-":       "",
		"terraform-v":      "",
		"terraform-docs":   "",
		"terraform-bin1.0": "",
		"terraformer":      "",
		"tofuenv":          "",
	} {
		got := ""
		if s := StandInFor(name); s != nil {
			got = s.Name + " " + s.Version
		}
		must.Equal(t, got, want, name)
	}
}

func TestIsCopy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tfdeps")
	must.Write(t, path, "program")
	for name, content := range map[string]string{"a copy": "program", "as long": "PROGRAM", "longer": "programs", "empty": ""} {
		other := filepath.Join(dir, name)
		must.Write(t, other, content)
		must.Equal(t, isCopy(path, other, must.Get(os.Stat(other))(t)), name == "a copy", name)
	}
	must.Equal(t, isCopy(filepath.Join(dir, "gone"), filepath.Join(dir, "as long"), must.Get(os.Stat(filepath.Join(dir, "as long")))(t)), false)
}
