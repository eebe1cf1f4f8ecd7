package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseCommandLine(t *testing.T) {
	// the typed line, with variables on lines of their own; and the parsed arguments, separated by bars, with the other results
	for text, want := range map[string]string{
		"":                                "",                                                 // nothing
		"init -upgrade":                   "init|-upgrade",                                    // a command
		"-chdir=a/b init":                 "in a/b: init",                                     // -chdir
		"--chdir=a init":                  "in a: init",                                       // --chdir
		"-help -chdir=a":                  "in a: -help",                                      // -chdir after another option
		"init -chdir=a":                   "init|-chdir=a",                                    // -chdir after the command is the command's
		"init -no-color -json":            "init|-json (without colours)",                     // -no-color
		"init --no-color":                 "init (without colours)",                           // -no-color as the value of nothing
		"get -consolidate-warnings=false": "get|-consolidate-warnings=false (keeps warnings)", // -consolidate-warnings
		"get -consolidate-errors=false --consolidate-errors": "get|-consolidate-errors=false|--consolidate-errors (joins errors)", // -consolidate-errors, of which the last counts
		"-version":         "version", // -version
		"init -upgrade -v": "version", // -v anywhere
		"serve -no-color x -- terraform -v -no-color -consolidate-warnings=false": "serve|x|--|terraform|-v|-no-color|-consolidate-warnings=false (without colours)", // a command behind --
		"serve -v -- terraform init":                                       "version",              // -version before --
		"--version -json":                                                  "version|-json",        // -version with -json
		"init -b\nTF_CLI_ARGS_init=-a 'x y'":                               "init|-a|x y|-b",       // arguments for a command come before those that were typed
		"init -b\nTF_CLI_ARGS=-c\nTF_CLI_ARGS_init=-a":                     "init|-a|-c|-b",        // arguments for all commands come after those for one
		"version\nTF_CLI_ARGS_init=-a":                                     "version",              // arguments for another command are ignored
		"two-words\nTF_CLI_ARGS_two_words=-a":                              "two-words|-a",         // a dash in a command's name is an underscore in the variable's
		"providers lock -b\nTF_CLI_ARGS_providers_lock=-a":                 "providers|lock|-a|-b", // the variable of a command of two words has both
		"providers lock -b\nTF_CLI_ARGS_providers=-a\nTF_CLI_ARGS_lock=-c": "providers|lock|-b",    // a variable of the first word alone is another command's
		"providers mirror dir\nTF_CLI_ARGS=-c\nTF_CLI_ARGS_providers_mirror=-a\nTFDEPS_CLI_ARGS_providers_mirror=-d": "providers|mirror|-a|-c|-d|dir", // arguments for all commands stand behind both words
		"providers look\nTF_CLI_ARGS_providers=-a":                                      "providers|-a|look",       // a word that is no subcommand is an argument
		"providers -json lock\nTF_CLI_ARGS_providers=-a\nTF_CLI_ARGS_providers_lock=-b": "providers|-a|-json|lock", // an option between the words ends the command's name
		"init\nTF_CLI_ARGS_init=-a ';' \"|\" -b=\\;":                                    "init|-a|;|||-b=;",        // an operator in quotes is a word
		"init\nTF_CLI_ARGS=-version":                                                    "version",                 // -version may come from a variable
		"-version\nTF_CLI_ARGS_version=-json":                                           "version",                 // -version is no command that has a variable
		"init\nTF_CLI_ARGS=-no-color":                                                   "init (without colours)",  // -no-color may come from a variable
		"-help\nTF_CLI_ARGS=-a":                                                         "-help",                   // without a command, variables add nothing
	} {
		args, env, _ := strings.Cut(text, "\n")
		line := must.Get(parseCommandLine(strings.Fields(args), strings.Split(env, "\n")))(t, text)
		got := strings.Join(line.args, "|")
		if line.dir != "" {
			got = "in " + line.dir + ": " + got
		}
		for word, is := range map[string]bool{"without colours": line.noColor, "keeps warnings": line.similar.KeepWarnings, "joins errors": line.similar.JoinErrors} {
			if is {
				got += " (" + word + ")"
			}
		}
		must.Equal(t, got, want, text)
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
