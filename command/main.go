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
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
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
	if standIn != nil && !handles(names(), args) {
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
	if err == nil {
		if _, gone := filepath.Abs("."); gone != nil {
			err = errors.New("the current directory was removed, or can't be read. Change to another one")
		}
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
	meta.Commands, meta.AddedBy = commands(), line.addedBy
	meta.Warnings = slices.Concat(unknownVariables(env), unusable)
	return dispatch(meta, line.args)
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

// newClient makes an HTTP client of the program: the options say what the caller wants to have otherwise.
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

// number reads a positive number; 0 is for all else, and means the default.
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

// ownVersion is the version of this build, as far as Go knows it.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
