package command

import (
	"slices"
	"testing"
)

func TestChoose_FindsTheLongestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		name string
		rest []string
		help bool
	}{
		{nil, "", nil, false},
		{[]string{""}, "", nil, false},
		{[]string{"init"}, "init", nil, false},
		{[]string{"", "init"}, "init", nil, false},
		{[]string{"init", "-upgrade", "x"}, "init", []string{"-upgrade", "x"}, false},
		{[]string{"providers"}, "providers", nil, false},
		{[]string{"providers", "lock", "a/b"}, "providers lock", []string{"a/b"}, false},
		{[]string{"providers", "other"}, "providers", []string{"other"}, false},
		{[]string{"providers", "-json", "lock"}, "providers", []string{"-json", "lock"}, false},
		{[]string{"providers lock"}, "", nil, false},
		{[]string{"other", "lock"}, "other", []string{"lock"}, false},
		{[]string{"-help"}, "", nil, true},
		{[]string{"-h", "init"}, "init", nil, true},
		{[]string{"init", "--help"}, "init", []string{"--help"}, true},
		{[]string{"init", "--", "-help"}, "init", []string{"--", "-help"}, false},
		{[]string{"--", "init"}, "", nil, false},
	} {
		name, rest, help := choose(c.args)
		if name != c.name || !slices.Equal(rest, c.rest) || help != c.help {
			t.Errorf("%q: %q, %q, %v; want %q, %q, %v", c.args, name, rest, help, c.name, c.rest, c.help)
		}
	}
}
