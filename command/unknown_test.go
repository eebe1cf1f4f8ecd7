package command

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

func TestUnknown_SaysWhatMayHaveBeenMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rest []string
		want string
	}{
		{"iniit", nil, `Did you mean "init"?`},
		{"vendro", nil, `Did you mean "vendor"?`},
		{"policy", []string{"chek"}, `Did you mean "policy check"?`},
		{"polcy", nil, `Did you mean "policy check"?`},
		{"plan", []string{"-out=x"}, "It is a command of Terraform. Run one of these:\n  terraform plan -out=x\n  tfdeps -passthrough plan -out=x\n"},
		{"plna", []string{"-out=x"}, "Did you mean \"plan\"? It is a command of Terraform. Run one of these:\n  terraform plan -out=x\n  tfdeps -passthrough plan -out=x\n"},
		{"tset", nil, `Did you mean "test"?`}, // and not "get"
		{"lock", nil, `Did you mean "providers lock"?`},
		{"gc", []string{"-older-than=30d"}, `Did you mean "cache gc" or "serve gc"?`}, // and not "get"
		{"verify", nil, `Did you mean "cache verify" or "providers verify"?`},
		{"lck", nil, `Did you mean "providers lock"?`},
		{"something", nil, "To see its commands"},
		{"x", nil, "To see its commands"},
	} {
		var out strings.Builder
		unknown(&out, getproviders.Terraform(""), c.name, c.rest)
		if !strings.HasPrefix(out.String(), "tfdeps has no command named ") || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %s", c.name, out.String())
		}
	}
}

func TestMisspelt_LooksAtTheWordBehindTheName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		rest        []string
		given, want string
	}{
		{"providers", []string{"lck", "a"}, "providers lck", "providers lock"},
		{"providers", []string{"example.com/acme/widget"}, "providers example.com/acme/widget", ""},
		{"providers", []string{"-json"}, "", ""},
		{"providers", []string{"schema"}, "providers schema", "providers schema"},
		{"providers", []string{"schma"}, "providers schma", "providers schema"},
		{"cache", []string{"gcc"}, "cache gcc", "cache gc"},
		{"init", nil, "", ""},
	} {
		if given, meant := misspelt(c.name, c.rest); given != c.given || meant != c.want {
			t.Errorf("%s %q: %q, %q", c.name, c.rest, given, meant)
		}
	}
}
