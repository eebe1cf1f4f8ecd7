package command

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCommandLine(t *testing.T) {
	tests := []struct {
		name string
		args string
		env  Environment
		want CommandLine
	}{
		{"nothing", "", nil, CommandLine{}},
		{"a command", "init -upgrade", nil, CommandLine{Args: []string{"init", "-upgrade"}}},
		{"-chdir", "-chdir=a/b init", nil, CommandLine{Dir: "a/b", Args: []string{"init"}}},
		{"--chdir", "--chdir=a init", nil, CommandLine{Dir: "a", Args: []string{"init"}}},
		{"-chdir after another option", "-help -chdir=a", nil, CommandLine{Dir: "a", Args: []string{"-help"}}},
		{"-chdir after the command is the command's", "init -chdir=a", nil, CommandLine{Args: []string{"init", "-chdir=a"}}},
		{"-no-color", "init -no-color -json", nil, CommandLine{Args: []string{"init", "-json"}, NoColor: true}},
		{"-no-color as the value of nothing", "init --no-color", nil, CommandLine{Args: []string{"init"}, NoColor: true}},
		{"-version", "-version", nil, CommandLine{Args: []string{"version"}}},
		{"-v anywhere", "init -upgrade -v", nil, CommandLine{Args: []string{"version"}}},
		{"-version with -json", "--version -json", nil, CommandLine{Args: []string{"version", "-json"}}},
		{
			"arguments for a command come before those that were typed",
			"init -b", Environment{"TF_CLI_ARGS_init=-a 'x y'"},
			CommandLine{Args: []string{"init", "-a", "x y", "-b"}},
		},
		{
			"arguments for all commands come after those for one",
			"init -b", Environment{"TF_CLI_ARGS=-c", "TF_CLI_ARGS_init=-a"},
			CommandLine{Args: []string{"init", "-a", "-c", "-b"}},
		},
		{
			"arguments for another command are nothing",
			"version", Environment{"TF_CLI_ARGS_init=-a"},
			CommandLine{Args: []string{"version"}},
		},
		{
			"a dash in a command's name is an underscore in the variable's",
			"two-words", Environment{"TF_CLI_ARGS_two_words=-a"},
			CommandLine{Args: []string{"two-words", "-a"}},
		},
		{
			"-no-color may come from a variable",
			"init", Environment{"TF_CLI_ARGS=-no-color"},
			CommandLine{Args: []string{"init"}, NoColor: true},
		},
		{"without a command, variables add nothing", "-help", Environment{"TF_CLI_ARGS=-a"}, CommandLine{Args: []string{"-help"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseCommandLine(strings.Fields(tt.args), tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if got.Dir != tt.want.Dir || got.NoColor != tt.want.NoColor || !slices.Equal(got.Args, tt.want.Args) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestParseCommandLineErrors(t *testing.T) {
	tests := []struct {
		name, args string
		env        Environment
		want       string
	}{
		{"-chdir without a value", "-chdir init", nil, "-chdir"},
		{"-chdir with an empty value", "-chdir= init", nil, "-chdir"},
		{"an open quote", "init", Environment{"TF_CLI_ARGS_init='a"}, "TF_CLI_ARGS_init"},
		{"what a shell would take for the end", "init", Environment{"TF_CLI_ARGS=-a;b"}, "TF_CLI_ARGS:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseCommandLine(strings.Fields(tt.args), tt.env)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one about %s", err, tt.want)
			}
		})
	}
}

func FuzzParseCommandLine(f *testing.F) {
	f.Add("-chdir=x\x00init\x00-no-color", "-a 'b c' \"d\"", "-e")
	f.Add("version", "$(", "`")
	f.Add("\x00-v\x00-json", "\\", "a\\")
	f.Fuzz(func(t *testing.T, args, general, special string) {
		line, err := ParseCommandLine(strings.Split(args, "\x00"), Environment{
			"TF_CLI_ARGS=" + general, "TF_CLI_ARGS_init=" + special,
		})
		if err == nil && len(line.Args) > 1 && slices.Contains(line.Args[1:], "-no-color") {
			t.Errorf("-no-color is left in %q", line.Args)
		}
	})
}

func TestEnvironmentTellsTheLastValue(t *testing.T) {
	env := Environment{"A=1", "B=", "A=2=3", "broken", "=C:=C:\\"}
	for name, want := range map[string]string{"A": "2=3", "B": "", "C": "", "broken": ""} {
		if got := env.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := env.With("A=4").Get("A"); got != "4" {
		t.Errorf("A is %q after it was replaced", got)
	}
	if got := env.Get("A"); got != "2=3" {
		t.Errorf("A is %q where it wasn't replaced", got)
	}
}
