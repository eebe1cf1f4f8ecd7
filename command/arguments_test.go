package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseCommandLine(t *testing.T) {
	tests := []struct {
		name, args string
		env        string // variables, a line each
		want       string // arguments, with bars between them, and what else there is
	}{
		{"nothing", "", "", ""},
		{"a command", "init -upgrade", "", "init|-upgrade"},
		{"-chdir", "-chdir=a/b init", "", "in a/b: init"},
		{"--chdir", "--chdir=a init", "", "in a: init"},
		{"-chdir after another option", "-help -chdir=a", "", "in a: -help"},
		{"-chdir after the command is the command's", "init -chdir=a", "", "init|-chdir=a"},
		{"-no-color", "init -no-color -json", "", "init|-json (without colours)"},
		{"-no-color as the value of nothing", "init --no-color", "", "init (without colours)"},
		{"-consolidate-warnings", "get -consolidate-warnings=false", "", "get|-consolidate-warnings=false (keeps warnings)"},
		{"-consolidate-errors, of which the last counts", "get -consolidate-errors=false --consolidate-errors", "", "get|-consolidate-errors=false|--consolidate-errors (joins errors)"},
		{"-version", "-version", "", "version"},
		{"-v anywhere", "init -upgrade -v", "", "version"},
		{"a command behind --", "serve -no-color x -- terraform -v -no-color -consolidate-warnings=false", "", "serve|x|--|terraform|-v|-no-color|-consolidate-warnings=false (without colours)"},
		{"-version before --", "serve -v -- terraform init", "", "version"},
		{"-version with -json", "--version -json", "", "version|-json"},
		{"arguments for a command come before those that were typed", "init -b", "TF_CLI_ARGS_init=-a 'x y'", "init|-a|x y|-b"},
		{"arguments for all commands come after those for one", "init -b", "TF_CLI_ARGS=-c\nTF_CLI_ARGS_init=-a", "init|-a|-c|-b"},
		{"arguments for another command are nothing", "version", "TF_CLI_ARGS_init=-a", "version"},
		{"a dash in a command's name is an underscore in the variable's", "two-words", "TF_CLI_ARGS_two_words=-a", "two-words|-a"},
		{"the variable of a command of two words has both", "providers lock -b", "TF_CLI_ARGS_providers_lock=-a", "providers|lock|-a|-b"},
		{"a variable of the first word alone is another command's", "providers lock -b", "TF_CLI_ARGS_providers=-a\nTF_CLI_ARGS_lock=-c", "providers|lock|-b"},
		{"arguments for all commands stand behind both words", "providers mirror dir", "TF_CLI_ARGS=-c\nTF_CLI_ARGS_providers_mirror=-a\nTFDEPS_CLI_ARGS_providers_mirror=-d", "providers|mirror|-a|-c|-d|dir"},
		{"a word that is no subcommand is an argument", "providers look", "TF_CLI_ARGS_providers=-a", "providers|-a|look"},
		{"an option between the words ends the command's name", "providers -json lock", "TF_CLI_ARGS_providers=-a\nTF_CLI_ARGS_providers_lock=-b", "providers|-a|-json|lock"},
		{"an operator in quotes is a word", "init", "TF_CLI_ARGS_init=-a ';' \"|\" -b=\\;", "init|-a|;|||-b=;"},
		{"-version may come from a variable", "init", "TF_CLI_ARGS=-version", "version"},
		{"-version is no command that has a variable", "-version", "TF_CLI_ARGS_version=-json", "version"},
		{"-no-color may come from a variable", "init", "TF_CLI_ARGS=-no-color", "init (without colours)"},
		{"without a command, variables add nothing", "-help", "TF_CLI_ARGS=-a", "-help"},
	}
	for _, tt := range tests {
		line := must.Get(parseCommandLine(strings.Fields(tt.args), strings.Split(tt.env, "\n")))(t, tt.name)
		got := strings.Join(line.args, "|")
		if line.dir != "" {
			got = "in " + line.dir + ": " + got
		}
		for word, is := range map[string]bool{"without colours": line.noColor, "keeps warnings": line.similar.KeepWarnings, "joins errors": line.similar.JoinErrors} {
			if is {
				got += " (" + word + ")"
			}
		}
		must.Equal(t, got, tt.want, tt.name)
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
		must.Contain(t, must.ErrorOf(parseCommandLine(strings.Fields(tt.args), tt.env)), tt.want, tt.name)
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
