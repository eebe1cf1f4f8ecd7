package command

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestChoose_FindsTheLongestName(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{ // the command and its arguments, with bars between words
		"tfdeps":                      ": ",
		"tfdeps|":                     ": ",
		"tfdeps|init":                 "init: ",
		"tfdeps||init":                "init: ",
		"tfdeps|init|-upgrade|x":      "init: -upgrade|x",
		"tfdeps|providers":            "providers: ",
		"tfdeps|providers|lock|a/b":   "providers lock: a/b",
		"tfdeps|providers|other":      "providers: other",
		"tfdeps|providers|-json|lock": "providers: -json|lock",
		"tfdeps|providers lock":       ": ",
		"tfdeps|other|lock":           "other: lock",
		"tfdeps|-help":                "help of : ",
		"tfdeps|-h|init":              "help of init: ",
		"tfdeps|init|--help":          "help of init: --help",
		"tfdeps|init|--|-help":        "init: --|-help",
		"tfdeps|--|init":              ": ",
	} {
		name, rest, help := choose(strings.Split(args, "|")[1:])
		got := name + ": " + strings.Join(rest, "|")
		if help {
			got = "help of " + got
		}
		must.Equal(t, got, want, args)
	}
}
