package command

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTakeStandIn(t *testing.T) {
	// the typed line, and variables in further lines; the StandIn's name and version, if there is one, and the arguments
	for text, want := range map[string]string{
		"tfdeps init":                                   "|init",
		"/usr/bin/terraform plan -out=x":                "terraform |plan -out=x",
		"tofu -version":                                 "tofu |-version",
		"terraform1.15.9 init":                          "terraform1.15.9 1.15.9|init",
		"tofu1.12.6 init":                               "tofu1.12.6 1.12.6|init",
		"Terraform.exe init":                            "|init",
		"terraform.EXE init":                            "terraform |init",
		"terraform1.15.9.exe init":                      "terraform1.15.9 1.15.9|init",
		"terraform-docs .":                              "|.",
		"tfdeps -passthrough plan -passthrough":         "terraform |plan -passthrough",
		"tfdeps -chdir=a --passthrough plan":            "terraform |-chdir=a plan",
		"tfdeps plan -passthrough":                      "|plan -passthrough",
		"tfdeps plan\nTFDEPS_PASSTHROUGH=1":             "terraform |plan",
		"tfdeps plan\nTFDEPS_PASSTHROUGH=0":             "|plan",
		"tfdeps -passthrough plan\nTFDEPS_PRODUCT=tofu": "tofu |plan",
		"terraform plan\nTFDEPS_PRODUCT=tofu":           "terraform |plan",
		"":                                              "|",
	} {
		argv, env, _ := strings.Cut(text, "\n")
		got := ""
		program, args := takeStandIn(strings.Fields(argv), cli.Environment{env})
		if program != nil {
			got = program.Name + " " + program.Version
		}
		must.Equal(t, got+"|"+strings.Join(args, " "), want, text)
	}
}

func TestHandles(t *testing.T) {
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
		must.Equal(t, handles(strings.Fields(args)), want, args)
	}
}

func FuzzTakeStandIn(f *testing.F) {
	f.Add("terraform1.2.3-.exe", "-chdir plan")
	f.Fuzz(func(_ *testing.T, name, args string) {
		_, rest := takeStandIn(append([]string{name}, strings.Fields(args)...), nil)
		handles(rest)
	})
}
