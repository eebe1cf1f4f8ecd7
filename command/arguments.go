package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"
)

// CommandLine is a program's arguments, sorted out before any command is chosen.
type CommandLine struct {
	Dir     string   // of -chdir; "": none was given
	Args    []string // the command's words and its arguments
	NoColor bool     // -no-color was among them
}

var (
	errChdirValue = errors.New("invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example")
	errWords      = errors.New("invalid command line string: a quote is left open, or it has characters such as ; & | < > ( ) outside of quotes")
)

// ParseCommandLine sorts out the arguments (without the program's name) and
// adds those of the variables TF_CLI_ARGS and TF_CLI_ARGS_<command>, right
// after the command's name, so that what was typed overrides them. Where both
// variables are set the general one comes last, as in the real tool. Those of
// TFDEPS_CLI_ARGS and TFDEPS_CLI_ARGS_<command> follow, which the real tool
// doesn't know: they are for options that it would refuse.
func ParseCommandLine(args []string, env Environment) (CommandLine, error) {
	var line CommandLine
	var err error
	if line.Dir, args, err = takeChdir(args); err != nil {
		return line, err
	}
	if _, err := parseSwitch(passthroughVariable, env.Get(passthroughVariable)); err != nil {
		return line, err
	}
	if _, err := productByVariable(env); err != nil {
		return line, err
	}
	args = versionCommand(args)
	if args, err = addFromEnvironment(args, env); err != nil {
		return line, err
	}
	line.Args, line.NoColor = takeNoColor(args)
	return line, nil
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

// versionCommand makes the version command of the options -v and -version,
// which count wherever they are. Of other arguments only -json means anything to it.
func versionCommand(args []string) []string {
	isVersion := func(arg string) bool { return arg == "-v" || arg == "-version" || arg == "--version" }
	if !slices.ContainsFunc(args, isVersion) {
		return args
	}
	if wantsJSON(args) {
		return []string{"version", "-json"}
	}
	return []string{"version"}
}

func addFromEnvironment(args []string, env Environment) ([]string, error) {
	at := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if at < 0 {
		return args, nil
	}
	added, suffix := []string{}, "_"+strings.ReplaceAll(args[at], "-", "_")
	for _, name := range []string{"TF_CLI_ARGS" + suffix, "TF_CLI_ARGS", argumentsVariable + suffix, argumentsVariable} {
		words, err := splitWords(env.Get(name))
		if err != nil {
			return nil, fmt.Errorf("parsing extra CLI args from %s: %w", name, err)
		}
		added = append(added, words...)
	}
	return slices.Concat(args[:at+1], added, args[at+1:]), nil
}

// splitWords splits text as a shell would. Where a shell would see the end of
// the command, the real tool quietly forgets the rest; here it is an error.
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

// CheckGlobal refuses options before the command that aren't known there. What
// else stands there was taken out by ParseCommandLine.
func (l CommandLine) CheckGlobal() error {
	if len(l.Args) == 0 || !strings.HasPrefix(l.Args[0], "-") || slices.Contains([]string{"-h", "-help", "--help"}, l.Args[0]) {
		return nil
	}
	option := l.Args[0]
	name, _, _ := strings.Cut(option, "=")
	err := fmt.Errorf("there is no global option %s. To see those that there are, run:\n  tfdeps -help", name)
	command := slices.IndexFunc(l.Args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if command < 0 {
		return err
	}
	return fmt.Errorf("%w\n\nAn option of the command %q stands behind it:\n  tfdeps %[2]s %s", err, l.Args[command], option)
}

// wantsJSON finds out how to speak of arguments that can't be parsed.
func wantsJSON(args []string) bool {
	wants := false
	for _, arg := range args {
		switch arg {
		case "-json", "--json", "-json=true", "--json=true":
			wants = true
		case "-json=false", "--json=false":
			wants = false
		}
	}
	return wants
}
