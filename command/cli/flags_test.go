package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestFlags_VariablesStandForOptions(t *testing.T) {
	tests := []struct {
		name, args string
		env        Environment
		offline    bool
		link       string
		by         string // who set -offline
		wrong      string // what the error says
	}{
		{name: "nothing", by: ""},
		{name: "option", args: "-offline", offline: true, by: "-offline"},
		{name: "variable", env: Environment{"TFDEPS_OFFLINE=1"}, offline: true, by: "TFDEPS_OFFLINE"},
		{name: "true", env: Environment{"TFDEPS_OFFLINE=True"}, offline: true, by: "TFDEPS_OFFLINE"},
		{name: "off", env: Environment{"TFDEPS_OFFLINE=false"}, by: "TFDEPS_OFFLINE"},
		{name: "empty", env: Environment{"TFDEPS_OFFLINE="}},
		{name: "the option counts more", args: "-offline=false", env: Environment{"TFDEPS_OFFLINE=1"}, by: "-offline"},
		{name: "and its value isn't looked at", args: "-offline", env: Environment{"TFDEPS_OFFLINE=maybe"}, offline: true, by: "-offline"},
		{name: "text", env: Environment{"TFDEPS_LINK=copy"}, link: "copy"},
		{name: "neither on nor off", env: Environment{"TFDEPS_OFFLINE=yes"}, wrong: `TFDEPS_OFFLINE is "yes"`},
		{name: "of another command", env: Environment{"TFDEPS_FROZEN=yes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var offline bool
			var link string
			given, err := Flags{
				{Name: "offline", Value: Bool(&offline), Variable: "TFDEPS_OFFLINE"},
				{Name: "link", Value: String(&link), Variable: "TFDEPS_LINK"},
			}.Alone(strings.Fields(tt.args), tt.env)
			if tt.wrong != "" {
				if _, ok := errors.AsType[*UsageError](err); !ok || !strings.Contains(err.Error(), tt.wrong) {
					t.Fatalf("the error is %v", err)
				}
				return
			}
			if err != nil || offline != tt.offline || link != tt.link || given.By["offline"] != tt.by {
				t.Errorf("got %t by %q and %q, error %v", offline, given.By["offline"], link, err)
			}
		})
	}
}

// A value that can't be used may look like an option that there isn't.
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
	}
}

func TestSwitchOr_TakesOneWordMore(t *testing.T) {
	for _, tt := range []struct {
		args string
		env  Environment
		on   bool
		is   bool
		bad  string
	}{
		{}, {args: "-verify", on: true}, {args: "-verify=1", on: true}, {args: "-verify=ctime", is: true}, {args: "-verify=false"},
		{args: "-verify=ctime -verify", on: true}, {args: "-verify -verify=ctime", is: true},
		{env: Environment{"TFDEPS_VERIFY=ctime"}, is: true}, {env: Environment{"TFDEPS_VERIFY=true"}, on: true}, {env: Environment{"TFDEPS_VERIFY=0"}},
		{args: "-verify", env: Environment{"TFDEPS_VERIFY=ctime"}, on: true}, {args: "-verify=0", env: Environment{"TFDEPS_VERIFY=ctime"}},
		{args: "-verify=mtime", bad: "mtime"}, {env: Environment{"TFDEPS_VERIFY=mtime"}, bad: "true, 0 or false, or ctime"},
	} {
		var on, is bool
		_, err := Flags{SwitchOr("verify", &on, "ctime", &is, "").Or("TFDEPS_VERIFY", "hash all packages")}.Alone(strings.Fields(tt.args), tt.env)
		if tt.bad == "" && (err != nil || on != tt.on || is != tt.is) || tt.bad != "" && (err == nil || !strings.Contains(err.Error(), tt.bad)) {
			t.Errorf("%q, %q: on %t, ctime %t, %v", tt.args, tt.env, on, is, err)
		}
	}
}

func TestHelp_LinesAreBrokenAndIndented(t *testing.T) {
	flags := Flags{
		{Name: "a", Value: AnyBool(), Help: "One word follows the other until the line is full, and another line begins with the next."},
		{Name: "with-a-long-name", Arg: "=VALUE", Value: String(new(string)), Help: "Below.", Alias: "other",
			Choices: [][2]string{{"first", "this"}, {"second", "that"}}},
		{Name: "c", Value: AnyBool(), Note: NoEffect},
		{Name: "d", Value: AnyBool(), Note: NoEffect},
	}
	h := Command{Usage: "x [options]\nx FILE", About: "  Does x.", More: "  That is all.", Flags: func() Flags { return flags }}
	const want = `Usage: tfdeps [global options] x [options]
       tfdeps [global options] x FILE

  Does x.

Options:

  -a                   One word follows the other until the line is full, and
                       another line begins with the next.

  -with-a-long-name=VALUE
                       Below.
    first              this
    second             that
                       Alias: -other=VALUE

  Accepted and without effect: -c, -d.

  That is all.`
	must.Equal(t, h.WholeHelp(""), want)
}
