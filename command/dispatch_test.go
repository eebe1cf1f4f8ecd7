package command

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestChoose_FindsTheLongestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, name, rest string // with bars between words
		help             bool
	}{
		{"tfdeps", "", "", false},
		{"tfdeps|", "", "", false},
		{"tfdeps|init", "init", "", false},
		{"tfdeps||init", "init", "", false},
		{"tfdeps|init|-upgrade|x", "init", "-upgrade|x", false},
		{"tfdeps|providers", "providers", "", false},
		{"tfdeps|providers|lock|a/b", "providers lock", "a/b", false},
		{"tfdeps|providers|other", "providers", "other", false},
		{"tfdeps|providers|-json|lock", "providers", "-json|lock", false},
		{"tfdeps|providers lock", "", "", false},
		{"tfdeps|other|lock", "other", "lock", false},
		{"tfdeps|-help", "", "", true},
		{"tfdeps|-h|init", "init", "", true},
		{"tfdeps|init|--help", "init", "--help", true},
		{"tfdeps|init|--|-help", "init", "--|-help", false},
		{"tfdeps|--|init", "", "", false},
	} {
		name, rest, help := choose(strings.Split(c.args, "|")[1:])
		must.Equal(t, name, c.name, c.args)
		must.Equal(t, strings.Join(rest, "|"), c.rest, c.args)
		must.Equal(t, help, c.help, c.args)
	}
}
