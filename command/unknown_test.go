package command

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestUnknown_SaysWhatMayHaveBeenMeant(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"iniit":              `Did you mean "init"?`,
		"vendro":             `Did you mean "vendor"?`,
		"policy chek":        `Did you mean "policy check"?`,
		"polcy":              `Did you mean "policy check"?`,
		"plan -out=x":        "It is a command of Terraform. Run one of these:\n  terraform plan -out=x\n  tfdeps -passthrough plan -out=x\n",
		"plna -out=x":        "Did you mean \"plan\"? It is a command of Terraform. Run one of these:\n  terraform plan -out=x\n  tfdeps -passthrough plan -out=x\n",
		"tset":               `Did you mean "test"?`, // and not "get"
		"lock":               `Did you mean "providers lock"?`,
		"gc -older-than=30d": `Did you mean "cache gc" or "serve gc"?`, // and not "get"
		"verify":             `Did you mean "cache verify" or "providers verify"?`,
		"lck":                `Did you mean "providers lock"?`,
		"something":          "To see its commands",
		"x":                  "To see its commands",
	} {
		var out strings.Builder
		words := strings.Fields(line)
		unknown(&cli.Meta{Stderr: &out}, words[0], words[1:])
		if !strings.HasPrefix(out.String(), "tfdeps has no command named ") || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s", line, out.String())
		}
	}
}

// TestMisspelt_LooksAtTheWordBehindTheName has lines, with the command that each names and the one that is meant, separated by a comma.
func TestMisspelt_LooksAtTheWordBehindTheName(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"providers lck a":                   "providers lck, providers lock",
		"providers example.com/acme/widget": "providers example.com/acme/widget, ",
		"providers -json":                   ", ",
		"providers schema":                  "providers schema, providers schema",
		"providers schma":                   "providers schma, providers schema",
		"cache gcc":                         "cache gcc, cache gc",
		"init":                              ", ",
	} {
		words := strings.Fields(line)
		given, meant := misspelt(words[0], words[1:])
		must.Equal(t, given+", "+meant, want, line)
	}
}
