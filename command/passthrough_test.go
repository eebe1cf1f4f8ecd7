package command

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestTakeStandIn(t *testing.T) {
	tests := []struct {
		argv, env string
		want      *StandIn
		args      string
	}{
		{"tfdeps init", "", nil, "init"},
		{"/usr/bin/terraform plan -out=x", "", &StandIn{Name: "terraform"}, "plan -out=x"},
		{"tofu -version", "", &StandIn{Name: "tofu"}, "-version"},
		{"terraform1.15.9 init", "", &StandIn{Name: "terraform1.15.9", Version: "1.15.9"}, "init"},
		{"tofu1.12.6 init", "", &StandIn{Name: "tofu1.12.6", Version: "1.12.6"}, "init"},
		{"Terraform.exe init", "", nil, "init"},
		{"terraform.EXE init", "", &StandIn{Name: "terraform"}, "init"},
		{"terraform1.15.9.exe init", "", &StandIn{Name: "terraform1.15.9", Version: "1.15.9"}, "init"},
		{"terraform-docs .", "", nil, "."},
		{"tfdeps -passthrough plan -passthrough", "", &StandIn{Name: "terraform"}, "plan -passthrough"},
		{"tfdeps -chdir=a --passthrough plan", "", &StandIn{Name: "terraform"}, "-chdir=a plan"},
		{"tfdeps plan -passthrough", "", nil, "plan -passthrough"},
		{"tfdeps plan", "TFDEPS_PASSTHROUGH=1", &StandIn{Name: "terraform"}, "plan"},
		{"tfdeps plan", "TFDEPS_PASSTHROUGH=0", nil, "plan"},
		{"tfdeps -passthrough plan", "TFDEPS_PRODUCT=tofu", &StandIn{Name: "tofu"}, "plan"},
		{"terraform plan", "TFDEPS_PRODUCT=tofu", &StandIn{Name: "terraform"}, "plan"},
		{"", "", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.argv, func(t *testing.T) {
			got, args := TakeStandIn(strings.Fields(tt.argv), Environment{tt.env})
			if !reflect.DeepEqual(got, tt.want) || strings.Join(args, " ") != tt.args {
				t.Errorf("got %+v and %q, want %+v and %q", got, args, tt.want, tt.args)
			}
		})
	}
}

func TestHandles(t *testing.T) {
	ours := []string{"init", "get", "providers", "providers lock", "version"}
	for args, want := range map[string]bool{
		"":                               false,
		"-help":                          false,
		"init -backend=false":            true,
		"-chdir=a init":                  true,
		"init dir":                       true,
		"plan":                           false,
		"plan init":                      false,
		"-version":                       true,
		"plan -version":                  true,
		"providers":                      true,
		"providers -test-directory=x":    true,
		"providers lock -platform=a b/c": true,
		"providers schema -json":         false,
		"workspace show":                 false,
		"-chdir init":                    true, // the mistake is ours to tell
	} {
		if got := Handles(ours, strings.Fields(args)); got != want {
			t.Errorf("%q: got %v, want %v", args, got, want)
		}
	}
}

func TestRealProgramIsNeverOurselves(t *testing.T) {
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
		{"tofu", realTofuVariable + "=" + real, real, ""},
		{"tofu1.12.6", realVariable + "=" + real, "", "there is no tofu1.12.6 on PATH"},
		{"terraform", realVariable + "=" + link, "", "leads to tfdeps itself"},
		{"terraform", realVariable + "=" + real + "/none", "", "TFDEPS_TERRAFORM_PATH"},
	} {
		m := &Meta{Executable: own, Env: Environment{path, tt.env}}
		got, err := m.realProgram(tt.name)
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s with %s: got %q, %v", tt.name, tt.env, got, err)
		}
	}
}

func FuzzTakeStandIn(f *testing.F) {
	f.Add("terraform1.2.3-.exe", "-chdir plan")
	f.Fuzz(func(_ *testing.T, name, args string) {
		_, rest := TakeStandIn(append([]string{name}, strings.Fields(args)...), nil)
		Handles([]string{"init"}, rest)
	})
}
