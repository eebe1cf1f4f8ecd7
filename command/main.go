// Package command is the program: from the process to one command and its exit
// code. [Main] parses the arguments, makes the [cli.Meta] that all commands get,
// and runs the named command. Each command has its own folder:
//
//	cli        what every command needs: Meta, the table of options and its help
//	products   Terraform or OpenTofu, at which version
//	workdir    a working directory as a value
//	sources    what the CLI configuration says about sources and the network
//	initcmd, getcmd, providerscmd, cachecmd, vendorcmd, doctorcmd
//	view       values and events as text, JSON and bars
//	problem    errors and warnings
//
// A command turns its arguments into options, calls the packages below
// and has package view print the result. It sends no request, unpacks no
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
	"os"
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
	"github.com/tfdeps/tfdeps/internal/owner"
)

// Process is what the program gets from its process. Packages
// below this one don't read any of it from the operating system.
type Process struct {
	Args           []string // with the program's name in front, as in os.Args
	Env            cli.Environment
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Chdir          func(dir string) error // changes the working directory of the process
	Executable     string                 // the program's own file; "" if unknown
	UserCacheDir   string                 // the user's directory for caches of all programs, or ""

	retryWait time.Duration // before a request is retried; 0 means the default. Tests set it
}

// Main runs the program. It returns the exit code: 0 for success, 2 if a
// check found a difference, else 1. The context ends when the user
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
	log, closeLog, unusable := openLog(ctx, env, p.Stderr)
	defer closeLog()
	meta := newMeta(ctx, p, env, standIn, line, log)
	meta.Dir = dir
	meta.ByChdir = line.dir
	meta.AddedBy = line.addedBy
	meta.Warnings = slices.Concat(unknownVariables(env), unusable)
	return dispatch(meta, line.args)
}

// commandLine is the program's arguments, parsed before a command is chosen.
type commandLine struct {
	dir     string          // of -chdir, or ""
	args    []string        // the command's words and its arguments
	noColor bool            // -no-color was among them
	similar explain.Similar // of -consolidate-warnings and -consolidate-errors

	addedBy map[string]string // options that come from a variable, without dashes, and its name
}

var (
	//lint:ignore ST1005 Terraform's sentence, which is printed alone
	errChdirValue = errors.New("Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example")
	errWords      = errors.New("invalid command line string: a quote is left open, or it has characters such as ; & | < > ( ) outside of quotes")
)

// parseCommandLine parses the arguments (without the program's name) and
// adds those of the variables TF_CLI_ARGS and TF_CLI_ARGS_<command>, right
// after the command's last word, so that typed options override them. The
// variable of "providers lock" is TF_CLI_ARGS_providers_lock; that of
// "providers" isn't used for it. If both variables are set, the general one
// comes last, as in Terraform. The arguments of TFDEPS_CLI_ARGS_<command> and
// TFDEPS_CLI_ARGS follow. Terraform doesn't know these variables, so they can have
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

// takeChdir removes -chdir from the options before the command.
func takeChdir(args []string) (dir string, rest []string, err error) {
	given, rest := takeGlobal(args, "chdir")
	if _, dir, _ = strings.Cut(given, "="); given != "" && dir == "" {
		return "", nil, errChdirValue
	}
	return dir, rest, nil
}

// takeGlobal removes an option before the command, and returns it; given is "" if it isn't there.
func takeGlobal(args []string, name string) (given string, rest []string) {
	for i, arg := range args {
		if isOperand(arg) {
			break
		}
		if cli.OptionName(arg) == name {
			return arg, slices.Concat(args[:i], args[i+1:])
		}
	}
	return "", args
}

// takeVersion replaces the arguments by the version command if -v or -version is anywhere
// before "--". Of the other arguments it only keeps -json.
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

// splitWords splits text as a shell would. After a character that ends
// a command, such as ;, Terraform ignores the rest; here it is an error.
func splitWords(text string) ([]string, error) {
	parser := shellwords.NewParser()
	words, err := parser.Parse(text)
	if err != nil || parser.Position >= 0 {
		return nil, errWords
	}
	return words, nil
}

// takeNoColor removes -no-color from a command's arguments, wherever it is.
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

// similar reads the options that say which similar problems are merged. The command checks whether it has them,
// and whether their values are valid.
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

// checkGlobal refuses unknown options before the command: parseCommandLine has removed
// the known ones.
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

// newMeta makes the Meta for all commands.
func newMeta(ctx context.Context, p Process, env cli.Environment, standIn *cli.StandIn, line commandLine, log *slog.Logger) *cli.Meta {
	home, cache, state := homeDir(env), cacheDir(p.UserCacheDir), stateDir(env, runtime.GOOS)
	withheld := withheldDirs(env, home, cache, state)
	if withheld != "" {
		cache, state = "", ""
	}

	return &cli.Meta{
		Context: ctx,
		Chdir:   p.Chdir,
		Stdin:   p.Stdin,
		Stdout:  p.Stdout,
		Stderr:  p.Stderr,
		NoColor: line.noColor,
		Similar: line.similar,
		Hidden:  new(explain.Hidden),
		Env:     env,
		Now:     p.Now,
		Begun:   p.Now(),
		Log:     log,
		NewClient: func(opts hosts.ClientOptions) (*http.Client, error) {
			return newClient(opts, env, p, log)
		},
		HomeDir:    home,
		CacheDir:   cache,
		StateDir:   state,
		Withheld:   withheld,
		Executable: p.Executable,
		StandIn:    standIn,
		Version:    ownVersion(),
	}
}

// withheldDirs returns why root has no directories for caches and state below the home that HOME names, or "" if it has.
//
// Under sudo HOME may still name the home of the user who called it. A cache that root makes there can't be used or removed
// by that user, who then has none. In containers the home of root often belongs to another user, and root's cache is as good
// there as elsewhere. But root follows no link of that user, which could lead into directories of root's own.
func withheldDirs(env cli.Environment, home, cache, state string) string {
	if os.Geteuid() != 0 {
		return ""
	}

	for _, dir := range []string{cache, state} {
		if link := owner.StrangersLink(dir); link != "" {
			return fmt.Sprintf("root doesn't follow the link %s, which belongs to another user", link)
		}
	}

	if env.Get("SUDO_UID") == "" {
		return ""
	}
	for _, dir := range []string{home, cache, state} {
		if dir != "" && owner.IsStrangers(dir) {
			return fmt.Sprintf("sudo runs this as root, but %s belongs to another user, who couldn't use what root keeps there (sudo -H names the home of root)", dir)
		}
	}
	return ""
}

// enter changes to the directory of -chdir, and returns the environment for it.
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

// newClient makes an HTTP client with the options and the settings of the environment.
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

// homeDir returns the user's home directory, or "". It isn't os.UserHomeDir, because HOME
// is used on every system, and needn't be set on any.
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

// cacheDir returns the directory for caches of tfdeps, or "" without one for the user.
func cacheDir(userCacheDir string) string {
	if userCacheDir == "" {
		return ""
	}
	return filepath.Join(userCacheDir, "tfdeps")
}

// stateDir returns the directory for data about this machine, which would be
// wrong on another one, or "" without a home directory.
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
