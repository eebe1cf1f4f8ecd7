package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/internal/must"
)

// given splits a line into options and variables.
func given(line string) (args []string, env Environment) {
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "-") {
			args = append(args, word)
		} else {
			env = append(env, word)
		}
	}
	return args, env
}

// TestFlags_VariablesStandForOptions has options and variables, with the resulting -offline and -link and what set -offline, or an error.
func TestFlags_VariablesStandForOptions(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "false  by ",
		"-offline":                        "true  by -offline",
		"TFDEPS_OFFLINE=1":                "true  by TFDEPS_OFFLINE",
		"TFDEPS_OFFLINE=True":             "true  by TFDEPS_OFFLINE",
		"TFDEPS_OFFLINE=false":            "false  by TFDEPS_OFFLINE",
		"TFDEPS_OFFLINE=":                 "false  by ",
		"-offline=false TFDEPS_OFFLINE=1": "false  by -offline", // the option takes precedence
		"-offline TFDEPS_OFFLINE=maybe":   "true  by -offline",  // and the variable isn't read
		"TFDEPS_LINK=copy":                "false copy by ",
		"TFDEPS_OFFLINE=yes":              `TFDEPS_OFFLINE is "yes"`,
		"TFDEPS_FROZEN=yes":               "false  by ", // of another command
	} {
		var offline bool
		var link string
		set, err := Flags{
			{Name: "offline", Value: Bool(&offline), Variable: "TFDEPS_OFFLINE"},
			{Name: "link", Value: String(&link), Variable: "TFDEPS_LINK"},
		}.Alone(given(line))
		if strings.HasPrefix(want, "TFDEPS") {
			must.Contain(t, must.As[*UsageError](t, err), want)
			continue
		}
		must.Succeed(t, err, line)
		must.Equal(t, fmt.Sprint(offline, " ", link, " by ", set.By["offline"]), want, line)
	}
}

// The error for an invalid value may look like the one for an unknown option.
func TestFlags_OnlyAnUnknownOptionIsTakenForAnother(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-linkk":      "flag provided but not defined: -linkk\nDid you mean -link?",
		"-linkk=copy": "flag provided but not defined: -linkk\nDid you mean -link?",
		"-other":      "flag provided but not defined: -other",
		"-age -aeg":   `invalid value "-aeg" for flag -age: no`,
		"-age -other": `invalid value "-other" for flag -age: no`,
		"-age":        "flag needs an argument: -age",
		"---other":    "bad flag syntax: ---other",
	} {
		_, err := Flags{Text("link=MODE", new(string), ""), Option("age=AGE", Func(func(string) error { return errors.New("no") }), "")}.Parse(strings.Fields(args))
		usage := must.As[*UsageError](t, err)
		must.Equal(t, usage.Text, want, args)
		must.Equal(t, usage.strange, args == "-other", args)
		must.Equal(t, usage.Options[0] == "-age", strings.HasPrefix(args, "-age"), args)
	}
}

// TestSwitchOr_TakesOneWordMore has options and variables, with the resulting switch and word, or an error.
func TestSwitchOr_TakesOneWordMore(t *testing.T) {
	for line, want := range map[string]string{
		"": "false false", "-verify": "true false", "-verify=1": "true false", "-verify=ctime": "false true", "-verify=false": "false false",
		"-verify=ctime -verify": "true false", "-verify -verify=ctime": "false true",
		"TFDEPS_VERIFY=ctime": "false true", "TFDEPS_VERIFY=true": "true false", "TFDEPS_VERIFY=0": "false false",
		"-verify TFDEPS_VERIFY=ctime": "true false", "-verify=0 TFDEPS_VERIFY=ctime": "false false",
		"-verify=mtime": "error -verify: it has to be true, false or ctime", "TFDEPS_VERIFY=mtime": "error true, 0 or false, or ctime",
	} {
		var on, is bool
		_, err := Flags{SwitchOr("verify", &on, "ctime", &is, "").Or("TFDEPS_VERIFY", "hash all packages")}.Alone(given(line))
		if words, wrong := strings.CutPrefix(want, "error "); wrong {
			must.Contain(t, err, words, line)
			continue
		}
		must.Succeed(t, err, line)
		must.Equal(t, fmt.Sprint(on, is), want, line)
	}
}

func TestHelp_LinesAreBrokenAndIndented(t *testing.T) {
	flags := Flags{
		{Name: "a", Value: AnyBool(), Help: "One word follows the other until the line is full", More: "Another line begins with the next."},
		{Name: "with-a-long-name", Sep: "=", Arg: "VALUE", Value: String(new(string)), Help: "Below", Alias: "other",
			Choices: [][2]string{{"first", "this"}, {"second", "that"}}},
		{Name: "c", Value: AnyBool(), Note: NoEffect},
		{Name: "d", Value: AnyBool(), Note: NoEffect},
	}
	h := Command{Usage: "x [options]\nx FILE", About: "  Does x.", More: "  That is all.", Flags: func() Flags { return flags }}
	const want = `Usage: tfdeps [global options] x [options]
       tfdeps [global options] x FILE

  Does x.

Options:

  -a                   One word follows the other until the line is full.
                       Another line begins with the next.

  -with-a-long-name=VALUE
                       Below:
    first              this
    second             that
                       Alias: -other=VALUE

  Accepted without effect: -c, -d.

  That is all.`
	must.Equal(t, h.Help(explain.Names{Called: "tfdeps"}, "", true), want)
}
