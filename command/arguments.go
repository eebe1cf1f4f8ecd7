package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-shellwords"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/explain"
)

// commandLine is a program's arguments, sorted out before any command is chosen.
type commandLine struct {
	dir     string          // of -chdir; "": none was given
	args    []string        // the command's words and its arguments
	noColor bool            // -no-color was among them
	similar explain.Similar // what -consolidate-warnings and -consolidate-errors ask for

	addedBy map[string]string // options that weren't typed, without dashes, and the variable that has them
}

var (
	//lint:ignore ST1005 Terraform's sentence, which is printed alone
	errChdirValue = errors.New("Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example")
	errWords      = errors.New("invalid command line string: a quote is left open, or it has characters such as ; & | < > ( ) outside of quotes")
)

// parseCommandLine sorts out the arguments (without the program's name) and
// adds those of the variables TF_CLI_ARGS and TF_CLI_ARGS_<command>, right
// after the command's last word, so that what was typed overrides them. The
// variable of "providers lock" is TF_CLI_ARGS_providers_lock, and that of
// "providers" has no part in it. Where both variables are set the general one
// comes last, as in Terraform. Those of TFDEPS_CLI_ARGS and
// TFDEPS_CLI_ARGS_<command> follow, which Terraform doesn't know: they are for
// options that it would refuse.
func parseCommandLine(args []string, env cli.Environment) (commandLine, error) {
	var line commandLine
	var err error
	if line.dir, args, err = takeChdir(args); err != nil {
		return line, err
	}
	if _, err := cli.ParseSwitch(passthroughVariable, env.Get(passthroughVariable)); err != nil {
		return line, err
	}
	if _, err := products.ByVariable(env); err != nil {
		return line, err
	}
	if args, line.addedBy, err = addFromEnvironment(args, env); err != nil {
		return line, err
	}
	own, others := untilDashes(takeVersion(args))
	line.args, line.noColor = takeNoColor(own)
	line.similar = similar(line.args)
	line.args = append(line.args, others...)
	return line, nil
}

// untilDashes parts arguments before "--": what is behind it may be another program's.
func untilDashes(args []string) (before, from []string) {
	at := slices.Index(args, "--")
	if at < 0 {
		return args, nil
	}
	return args[:at:at], args[at:]
}

// takeChdir takes -chdir out of the options before the command.
func takeChdir(args []string) (dir string, rest []string, err error) {
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			return "", args, nil
		case name != "-chdir" && name != "--chdir":
		case !hasValue || value == "":
			return "", nil, errChdirValue
		default:
			return value, slices.Concat(args[:i], args[i+1:]), nil
		}
	}
	return "", args, nil
}

// takeVersion makes the version command of the options -v and -version,
// which count wherever they are before "--". Of other arguments only -json means anything to it.
func takeVersion(args []string) []string {
	isVersion := func(arg string) bool { return arg == "-v" || arg == "-version" || arg == "--version" }
	own, _ := untilDashes(args)
	if !slices.ContainsFunc(own, isVersion) {
		return args
	}
	if cli.WantsJSON(own) {
		return []string{"version", "-json"}
	}
	return []string{"version"}
}

func addFromEnvironment(args []string, env cli.Environment) (all []string, by map[string]string, err error) {
	at := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if at < 0 {
		return args, nil, nil
	}
	end := at + commandWords(args[at:])
	added, by, suffix := []string{}, map[string]string{}, "_"+strings.ReplaceAll(strings.Join(args[at:end], "_"), "-", "_")
	for _, name := range []string{"TF_CLI_ARGS" + suffix, "TF_CLI_ARGS", cli.ArgumentsVariable + suffix, cli.ArgumentsVariable} {
		words, err := splitWords(env.Get(name))
		if err != nil {
			return nil, nil, fmt.Errorf("parsing extra CLI args from %s: %w", name, err)
		}
		for _, word := range words {
			if option := optionName(word); option != "" {
				by[option] = name
			}
		}
		added = append(added, words...)
	}
	for _, typed := range args[end:] {
		delete(by, optionName(typed))
	}
	return slices.Concat(args[:end], added, args[end:]), by, nil
}

// optionName is the name in an argument such as "-link=copy"; "" if it is no option.
func optionName(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// commandWords is how many of the words are the command's name: as many as the
// longest name in the table of commands has that begins there, or one, which is then
// no command of tfdeps.
func commandWords(words []string) int { return wordsOf(names(), words) }

func wordsOf(names, words []string) int {
	count := 1
	for _, name := range names {
		parts := strings.Fields(name)
		if len(parts) > count && len(parts) <= len(words) && slices.Equal(parts, words[:len(parts)]) {
			count = len(parts)
		}
	}
	return count
}

// splitWords splits text as a shell would. Where a shell would see the end of
// the command, Terraform quietly forgets the rest; here it is an error.
func splitWords(text string) ([]string, error) {
	parser := shellwords.NewParser()
	words, err := parser.Parse(text)
	if err != nil || parser.Position >= 0 {
		return nil, errWords
	}
	return words, nil
}

// takeNoColor takes -no-color out of a command's arguments, where it may stand
// anywhere.
func takeNoColor(args []string) (rest []string, found bool) {
	for i, arg := range args {
		if i > 0 && (arg == "-no-color" || arg == "--no-color") {
			found = true
			continue
		}
		rest = append(rest, arg)
	}
	return rest, found
}

// similar reads the options that say which similar problems are shown as one. Whether a command has them,
// and their values are right, is for the command to say.
func similar(args []string) (s explain.Similar) {
	for _, arg := range args {
		_, value, hasValue := strings.Cut(arg, "=")
		on, err := strconv.ParseBool(value)
		if on = on || !hasValue; hasValue && err != nil {
			continue
		}
		switch optionName(arg) {
		case "consolidate-warnings":
			s.KeepWarnings = !on
		case "consolidate-errors":
			s.JoinErrors = on
		}
	}
	return s
}

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// checkGlobal refuses options before the command that aren't known there. What
// else stands there was taken out by parseCommandLine.
func (l commandLine) checkGlobal() error {
	if len(l.args) == 0 || !strings.HasPrefix(l.args[0], "-") || isHelp(l.args[0]) {
		return nil
	}
	option := l.args[0]
	name, _, _ := strings.Cut(option, "=")
	if isHelp(name) {
		return fmt.Errorf("the option %s has no value. To see the help of a command, run:\n  tfdeps help COMMAND", name)
	}
	err := fmt.Errorf("there is no global option %s. This command lists them:\n  tfdeps -help", name)
	command := slices.IndexFunc(l.args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if command < 0 {
		return err
	}
	return fmt.Errorf("%w\n\nOptions of the command %q come after its name:\n  tfdeps %[2]s %s", err, l.args[command], option)
}
