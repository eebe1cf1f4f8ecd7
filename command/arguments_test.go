package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseCommandLine(t *testing.T) {
	tests := []struct {
		name string
		args string
		env  cli.Environment
		want commandLine
	}{
		{"nothing", "", nil, commandLine{}},
		{"a command", "init -upgrade", nil, commandLine{args: []string{"init", "-upgrade"}}},
		{"-chdir", "-chdir=a/b init", nil, commandLine{dir: "a/b", args: []string{"init"}}},
		{"--chdir", "--chdir=a init", nil, commandLine{dir: "a", args: []string{"init"}}},
		{"-chdir after another option", "-help -chdir=a", nil, commandLine{dir: "a", args: []string{"-help"}}},
		{"-chdir after the command is the command's", "init -chdir=a", nil, commandLine{args: []string{"init", "-chdir=a"}}},
		{"-no-color", "init -no-color -json", nil, commandLine{args: []string{"init", "-json"}, noColor: true}},
		{"-no-color as the value of nothing", "init --no-color", nil, commandLine{args: []string{"init"}, noColor: true}},
		{"-consolidate-warnings", "get -consolidate-warnings=false", nil,
			commandLine{args: []string{"get", "-consolidate-warnings=false"}, similar: explain.Similar{KeepWarnings: true}}},
		{"-consolidate-errors, of which the last counts", "get -consolidate-errors=false --consolidate-errors", nil,
			commandLine{args: []string{"get", "-consolidate-errors=false", "--consolidate-errors"}, similar: explain.Similar{JoinErrors: true}}},
		{"-version", "-version", nil, commandLine{args: []string{"version"}}},
		{"-v anywhere", "init -upgrade -v", nil, commandLine{args: []string{"version"}}},
		{"a command behind --", "serve -no-color x -- terraform -v -no-color -consolidate-warnings=false", nil,
			commandLine{args: []string{"serve", "x", "--", "terraform", "-v", "-no-color", "-consolidate-warnings=false"}, noColor: true}},
		{"-version before --", "serve -v -- terraform init", nil, commandLine{args: []string{"version"}}},
		{"-version with -json", "--version -json", nil, commandLine{args: []string{"version", "-json"}}},
		{
			"arguments for a command come before those that were typed",
			"init -b", cli.Environment{"TF_CLI_ARGS_init=-a 'x y'"},
			commandLine{args: []string{"init", "-a", "x y", "-b"}},
		},
		{
			"arguments for all commands come after those for one",
			"init -b", cli.Environment{"TF_CLI_ARGS=-c", "TF_CLI_ARGS_init=-a"},
			commandLine{args: []string{"init", "-a", "-c", "-b"}},
		},
		{
			"arguments for another command are nothing",
			"version", cli.Environment{"TF_CLI_ARGS_init=-a"},
			commandLine{args: []string{"version"}},
		},
		{
			"a dash in a command's name is an underscore in the variable's",
			"two-words", cli.Environment{"TF_CLI_ARGS_two_words=-a"},
			commandLine{args: []string{"two-words", "-a"}},
		},
		{
			"the variable of a command of two words has both",
			"providers lock -b", cli.Environment{"TF_CLI_ARGS_providers_lock=-a"},
			commandLine{args: []string{"providers", "lock", "-a", "-b"}},
		},
		{
			"a variable of the first word alone is another command's",
			"providers lock -b", cli.Environment{"TF_CLI_ARGS_providers=-a", "TF_CLI_ARGS_lock=-c"},
			commandLine{args: []string{"providers", "lock", "-b"}},
		},
		{
			"arguments for all commands stand behind both words",
			"providers mirror dir", cli.Environment{"TF_CLI_ARGS=-c", "TF_CLI_ARGS_providers_mirror=-a", "TFDEPS_CLI_ARGS_providers_mirror=-d"},
			commandLine{args: []string{"providers", "mirror", "-a", "-c", "-d", "dir"}},
		},
		{
			"a word that is no subcommand is an argument",
			"providers look", cli.Environment{"TF_CLI_ARGS_providers=-a"},
			commandLine{args: []string{"providers", "-a", "look"}},
		},
		{
			"an option between the words ends the command's name",
			"providers -json lock", cli.Environment{"TF_CLI_ARGS_providers=-a", "TF_CLI_ARGS_providers_lock=-b"},
			commandLine{args: []string{"providers", "-a", "-json", "lock"}},
		},
		{
			"an operator in quotes is a word",
			"init", cli.Environment{"TF_CLI_ARGS_init=-a ';' \"|\" -b=\\;"},
			commandLine{args: []string{"init", "-a", ";", "|", "-b=;"}},
		},
		{"-version may come from a variable", "init", cli.Environment{"TF_CLI_ARGS=-version"}, commandLine{args: []string{"version"}}},
		{"-version is no command that has a variable", "-version", cli.Environment{"TF_CLI_ARGS_version=-json"}, commandLine{args: []string{"version"}}},
		{
			"-no-color may come from a variable",
			"init", cli.Environment{"TF_CLI_ARGS=-no-color"},
			commandLine{args: []string{"init"}, noColor: true},
		},
		{"without a command, variables add nothing", "-help", cli.Environment{"TF_CLI_ARGS=-a"}, commandLine{args: []string{"-help"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseCommandLine(strings.Fields(tt.args), tt.env)
			must.Succeed(t, err)
			if got.dir != tt.want.dir || got.noColor != tt.want.noColor || !slices.Equal(got.args, tt.want.args) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestParseCommandLine_Errors(t *testing.T) {
	tests := []struct {
		name, args string
		env        cli.Environment
		want       string
	}{
		{"-chdir without a value", "-chdir init", nil, "-chdir"},
		{"-chdir with an empty value", "-chdir= init", nil, "-chdir"},
		{"an open quote", "init", cli.Environment{"TF_CLI_ARGS_init='a"}, "TF_CLI_ARGS_init"},
		{"what a shell would take for the end", "init", cli.Environment{"TF_CLI_ARGS=-a;b"}, "TF_CLI_ARGS:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseCommandLine(strings.Fields(tt.args), tt.env)
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
		line, err := parseCommandLine(strings.Split(args, "\x00"), cli.Environment{
			"TF_CLI_ARGS=" + general, "TF_CLI_ARGS_init=" + special,
		})
		own, _ := untilDashes(line.args)
		if err == nil && len(own) > 1 && slices.Contains(own[1:], "-no-color") {
			t.Errorf("-no-color is left in %q", line.args)
		}
	})
}
