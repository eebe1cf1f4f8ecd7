// Package command is the program: from the process to one command and its exit
// code. [Main] sorts out the arguments, makes the [cli.Meta] that all commands get,
// and runs the one that is named. Each command has a folder of its own:
//
//	cli        what every command needs: Meta, the table of options and its help
//	products   Terraform or OpenTofu, at which version
//	workdir    a working directory as a value
//	sources    what the CLI configuration says about sources and the network
//	initcmd, getcmd, providerscmd, cachecmd, vendorcmd, doctorcmd
//	view       values and events as text, JSON and bars
//	problem    errors and warnings
//
// A command turns its arguments into options, asks the packages below for one
// thing, and has package view show what came of it. It makes no request, unpacks no
// archive and hashes nothing itself.
//
// docs/differences.md lists where tfdeps differs from Terraform on purpose.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Process is what the program gets from the process that it runs in. Nothing
// below this package asks the operating system for any of it.
type Process struct {
	Args           []string // with the program's name in front, as in os.Args
	Env            cli.Environment
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Chdir          func(dir string) error // changes the working directory of the process
	Executable     string                 // the program's own file; "": not known
	UserCacheDir   string                 // where programs of this user keep what can be made again; "": nowhere

	retryWait time.Duration // before a request is sent again; 0: as usual. Tests don't wait
}

// Main is the program. It returns the exit code: 0 if all went well, 2 if a
// question was answered with no, else 1. The context ends when the user
// interrupts the program.
func Main(ctx context.Context, p Process) int {
	standIn, args := takeStandIn(p.Args, p.Env)
	if standIn != nil && !handles(args) {
		real := &cli.Meta{Env: p.Env, StandIn: standIn, Executable: p.Executable}
		return passThrough(real, args, streams{in: p.Stdin, out: p.Stdout, err: p.Stderr})
	}
	line, err := parseCommandLine(args, p.Env)
	if err == nil {
		err = line.checkGlobal()
	}
	env := p.Env
	if err == nil {
		if env, err = enter(p, line.dir); err != nil {
			fmt.Fprintf(p.Stderr, "Error handling -chdir option: %s\n", err) // as Terraform has it
			return 1
		}
	}
	dir, gone := filepath.Abs(".")
	if err == nil && gone != nil {
		err = errors.New("the current directory was removed, or can't be read. Change to another one")
	}
	switch {
	case errors.Is(err, errChdirValue):
		fmt.Fprintln(p.Stderr, err) // as Terraform has it
		return 1
	case err != nil:
		fmt.Fprintf(p.Stderr, "Error: %s\n", err)
		return 1
	}
	log, closeLog, unusable := openLog(env, p.Stderr)
	defer closeLog()
	meta := newMeta(ctx, p, env, standIn, line, log)
	meta.Dir = dir
	meta.AddedBy = line.addedBy
	meta.Warnings = slices.Concat(unknownVariables(env), unusable)
	return dispatch(meta, line.args)
}

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

// takeChdir takes -chdir out of the options before the command.
func takeChdir(args []string) (dir string, rest []string, err error) {
	given, rest := takeGlobal(args, "chdir")
	if _, dir, _ = strings.Cut(given, "="); given != "" && dir == "" {
		return "", nil, errChdirValue
	}
	return dir, rest, nil
}

// takeGlobal takes an option out of those before the command; given is "" if it isn't there.
func takeGlobal(args []string, name string) (given string, rest []string) {
	for i, arg := range args {
		if isOperand(arg) {
			break
		}
		if option, _, _ := strings.Cut(arg, "="); option == "-"+name || option == "--"+name {
			return arg, slices.Concat(args[:i], args[i+1:])
		}
	}
	return "", args
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
	at := slices.IndexFunc(args, isOperand)
	if at < 0 {
		return args, nil, nil
	}
	end := at + wordsOf(args[at:])
	added, by, suffix := []string{}, map[string]string{}, "_"+strings.ReplaceAll(strings.Join(args[at:end], "_"), "-", "_")
	for _, name := range []string{"TF_CLI_ARGS" + suffix, "TF_CLI_ARGS", cli.ArgumentsVariable + suffix, cli.ArgumentsVariable} {
		words, err := splitWords(env.Get(name))
		if err != nil {
			return nil, nil, fmt.Errorf("parsing extra CLI args from %s: %w", name, err)
		}
		for _, word := range words {
			if option := cli.OptionName(word); option != "" {
				by[option] = name
			}
		}
		added = append(added, words...)
	}
	for _, typed := range args[end:] {
		delete(by, cli.OptionName(typed))
	}
	return slices.Concat(args[:end], added, args[end:]), by, nil
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
		switch cli.OptionName(arg) {
		case "consolidate-warnings":
			s.KeepWarnings = !on
		case "consolidate-errors":
			s.JoinErrors = on
		}
	}
	return s
}

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
	command := slices.IndexFunc(l.args, isOperand)
	if command < 0 {
		return err
	}
	return fmt.Errorf("%w\n\nOptions of the command %q come after its name:\n  tfdeps %[2]s %s", err, l.args[command], option)
}

// newMeta makes what the commands have in common.
func newMeta(ctx context.Context, p Process, env cli.Environment, standIn *cli.StandIn, line commandLine, log *slog.Logger) *cli.Meta {
	return &cli.Meta{
		Context: ctx,
		Chdir:   p.Chdir,
		Stdin:   p.Stdin,
		Stdout:  p.Stdout,
		Stderr:  p.Stderr,
		NoColor: line.noColor,
		Similar: line.similar,
		Env:     env,
		Now:     p.Now,
		Begun:   p.Now(),
		Log:     log,
		NewClient: func(opts hosts.ClientOptions) (*http.Client, error) {
			return newClient(opts, env, p, log)
		},
		HomeDir:    homeDir(env),
		CacheDir:   cacheDir(p.UserCacheDir),
		StateDir:   stateDir(env, runtime.GOOS),
		Executable: p.Executable,
		StandIn:    standIn,
		Version:    ownVersion(),
	}
}

// enter obeys -chdir, and returns the environment for what comes then.
func enter(p Process, dir string) (cli.Environment, error) {
	if dir == "" {
		return p.Env, nil
	}
	inside, err := (&cli.Meta{Env: p.Env, Chdir: p.Chdir}).Enter(dir)
	if err != nil {
		return nil, err
	}
	return inside.Env, nil
}

// newClient makes an HTTP client of the program. What the options set takes the place of the defaults.
func newClient(opts hosts.ClientOptions, env cli.Environment, p Process, log *slog.Logger) (*http.Client, error) {
	opts.Retries = hosts.ResolveRetries(env.Get("TF_REGISTRY_DISCOVERY_RETRY"))
	opts.HeaderTimeout = hosts.ResolveTimeout(env.Get("TF_REGISTRY_CLIENT_TIMEOUT"))
	opts.Now, opts.Proxy = p.Now, hosts.ProxyVariables(env.Get)
	opts.RetryWaitMin, opts.RetryWaitMax = p.retryWait, p.retryWait
	opts.DocumentTimeout = time.Duration(min(number(env.Get("TFDEPS_DOCUMENT_TIMEOUT")), 1<<32)) * time.Second
	opts.MinRate = number(env.Get("TFDEPS_MIN_RATE"))
	opts.TrustVariables(env.Get("SSL_CERT_FILE"), env.Get("SSL_CERT_DIR"))
	opts.Log = log
	return hosts.NewClient(opts)
}

// number reads a positive number. Anything else is 0, which means the default.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// homeDir is the user's directory; "" if there is none. Not os.UserHomeDir: HOME
// counts on every system, and need not be set on any.
func homeDir(env cli.Environment) string {
	if home := env.Get("HOME"); home != "" {
		return home
	}
	user, err := user.Current()
	if err != nil {
		return ""
	}
	return user.HomeDir
}

// cacheDir is where tfdeps keeps what can be made again; "" if there is no place.
func cacheDir(userCacheDir string) string {
	if userCacheDir == "" {
		return ""
	}
	return filepath.Join(userCacheDir, "tfdeps")
}

// stateDir is where tfdeps keeps what it knows of this machine, which would be
// wrong on another one; "" if there is no place.
func stateDir(env cli.Environment, goos string) string {
	home := homeDir(env)
	switch {
	case goos == "windows":
		if local := env.Get("LocalAppData"); local != "" {
			return filepath.Join(local, "tfdeps", "state")
		}
		return ""
	case filepath.IsAbs(env.Get("XDG_STATE_HOME")):
		return filepath.Join(env.Get("XDG_STATE_HOME"), "tfdeps")
	case home == "":
		return ""
	case goos == "darwin":
		return filepath.Join(home, "Library", "Application Support", "tfdeps")
	default:
		return filepath.Join(home, ".local", "state", "tfdeps")
	}
}
