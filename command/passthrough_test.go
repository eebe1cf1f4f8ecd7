package command

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTakeStandIn(t *testing.T) {
	tests := []struct {
		argv, env string
		want      *cli.StandIn
		args      string
	}{
		{"tfdeps init", "", nil, "init"},
		{"/usr/bin/terraform plan -out=x", "", &cli.StandIn{Name: "terraform"}, "plan -out=x"},
		{"tofu -version", "", &cli.StandIn{Name: "tofu"}, "-version"},
		{"terraform1.15.9 init", "", &cli.StandIn{Name: "terraform1.15.9", Version: "1.15.9"}, "init"},
		{"tofu1.12.6 init", "", &cli.StandIn{Name: "tofu1.12.6", Version: "1.12.6"}, "init"},
		{"Terraform.exe init", "", nil, "init"},
		{"terraform.EXE init", "", &cli.StandIn{Name: "terraform"}, "init"},
		{"terraform1.15.9.exe init", "", &cli.StandIn{Name: "terraform1.15.9", Version: "1.15.9"}, "init"},
		{"terraform-docs .", "", nil, "."},
		{"tfdeps -passthrough plan -passthrough", "", &cli.StandIn{Name: "terraform"}, "plan -passthrough"},
		{"tfdeps -chdir=a --passthrough plan", "", &cli.StandIn{Name: "terraform"}, "-chdir=a plan"},
		{"tfdeps plan -passthrough", "", nil, "plan -passthrough"},
		{"tfdeps plan", "TFDEPS_PASSTHROUGH=1", &cli.StandIn{Name: "terraform"}, "plan"},
		{"tfdeps plan", "TFDEPS_PASSTHROUGH=0", nil, "plan"},
		{"tfdeps -passthrough plan", "TFDEPS_PRODUCT=tofu", &cli.StandIn{Name: "tofu"}, "plan"},
		{"terraform plan", "TFDEPS_PRODUCT=tofu", &cli.StandIn{Name: "terraform"}, "plan"},
		{"", "", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.argv, func(t *testing.T) {
			got, args := takeStandIn(strings.Fields(tt.argv), cli.Environment{tt.env})
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
		"-chdir init":                    true, // tfdeps reports the mistake itself
	} {
		must.Equal(t, handles(ours, strings.Fields(args)), want, args)
	}
}

func FuzzTakeStandIn(f *testing.F) {
	f.Add("terraform1.2.3-.exe", "-chdir plan")
	f.Fuzz(func(_ *testing.T, name, args string) {
		_, rest := takeStandIn(append([]string{name}, strings.Fields(args)...), nil)
		handles([]string{"init"}, rest)
	})
}
