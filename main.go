// Command tfdeps installs what a Terraform configuration depends on.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mitchellh/cli"

	"github.com/tfdeps/tfdeps/command"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

func main() {
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A context of its own, so that the cause is context.Canceled whatever the
	// signal was. The second signal isn't caught: it ends the program at once.
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(signals, func() { stop(); cancel() })
	standIn, args := command.TakeStandIn(os.Args, os.Environ())
	if standIn != nil && !command.Handles(slices.Collect(maps.Keys(commands(nil))), args) {
		real := &command.Meta{Env: os.Environ(), StandIn: standIn, Executable: executable()}
		os.Exit(real.PassThrough(args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(run(ctx, standIn, args, os.Environ(), os.Stdout, os.Stderr))
}

// run is the program: 0 if all went well, 2 if a question was answered with no,
// else 1.
func run(ctx context.Context, standIn *command.StandIn, args []string, env command.Environment, stdout, stderr io.Writer) int {
	line, err := command.ParseCommandLine(args, env)
	if err == nil {
		err = line.CheckGlobal()
	}
	if err == nil {
		env, err = changeDir(line.Dir, env)
	}
	if err != nil {
		fmt.Fprintf(stderr, "Error: %s\n", err)
		return 1
	}
	meta := &command.Meta{
		Context:    ctx,
		Stdin:      os.Stdin,
		Stdout:     stdout,
		Stderr:     stderr,
		NoColor:    line.NoColor,
		Env:        env,
		Now:        time.Now,
		Log:        debugLog(env, stderr),
		NewClient:  func(userAgent string) (*http.Client, error) { return newClient(userAgent, env, stderr) },
		HomeDir:    homeDir(env),
		CacheDir:   cacheDir(),
		StateDir:   stateDir(env, runtime.GOOS),
		Executable: executable(),
		StandIn:    standIn,
		Version:    ownVersion(),
	}
	return dispatch(meta, line.Args)
}

// commands is the table of commands.
func commands(meta *command.Meta) map[string]cli.CommandFactory {
	return map[string]cli.CommandFactory{
		"cache":            func() (cli.Command, error) { return &command.CacheCommand{Meta: meta}, nil },
		"cache add":        func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "add"}, nil },
		"cache clean":      func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "clean"}, nil },
		"cache dir":        func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "dir"}, nil },
		"cache gc":         func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "gc"}, nil },
		"cache key":        func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "key"}, nil },
		"cache list":       func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "list"}, nil },
		"cache prune":      func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "prune"}, nil },
		"cache verify":     func() (cli.Command, error) { return &command.CacheCommand{Meta: meta, Verb: "verify"}, nil },
		"get":              func() (cli.Command, error) { return &command.GetCommand{Meta: meta}, nil },
		"hash":             func() (cli.Command, error) { return &command.HashCommand{Meta: meta}, nil },
		"init":             func() (cli.Command, error) { return &command.InitCommand{Meta: meta}, nil },
		"providers":        func() (cli.Command, error) { return &command.ProvidersCommand{Meta: meta}, nil },
		"providers lock":   func() (cli.Command, error) { return &command.ProvidersLockCommand{Meta: meta}, nil },
		"providers mirror": func() (cli.Command, error) { return &command.ProvidersMirrorCommand{Meta: meta}, nil },
		"providers verify": func() (cli.Command, error) { return &command.ProvidersVerifyCommand{Meta: meta}, nil },
		"vendor":           func() (cli.Command, error) { return &command.VendorCommand{Meta: meta}, nil },
		"providers urls":   func() (cli.Command, error) { return &command.ProvidersURLsCommand{Meta: meta}, nil },
		"version":          func() (cli.Command, error) { return &command.VersionCommand{Meta: meta}, nil },
	}
}

// dispatch runs the command that the arguments name.
func dispatch(meta *command.Meta, args []string) int {
	program := cli.CLI{
		Name:        "tfdeps",
		Args:        args,
		Commands:    commands(meta),
		HelpFunc:    func(map[string]cli.CommandFactory) string { return command.Usage },
		HelpWriter:  meta.Stdout,
		ErrorWriter: meta.Stderr,
	}
	if name := program.Subcommand(); name != "" && program.Commands[name] == nil {
		fmt.Fprintf(meta.Stderr, "tfdeps has no command named %q.\n\nTo see its commands, run:\n  tfdeps -help\n", name)
		return 1
	}
	code, err := program.Run()
	if err != nil {
		fmt.Fprintf(meta.Stderr, "Error: %s\n", err)
	}
	if code > command.ExitDiffers { // 127 of package cli: no such command
		code = 1
	}
	return code
}

// changeDir obeys -chdir. The CLI configuration is found from where we came.
func changeDir(dir string, env command.Environment) (command.Environment, error) {
	if dir == "" {
		return env, nil
	}
	for _, variable := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		file := env.Get(variable)
		if file == "" || filepath.IsAbs(file) {
			continue
		}
		absolute, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		env = env.With(variable + "=" + absolute)
	}
	if err := os.Chdir(dir); err != nil {
		return nil, fmt.Errorf("handling -chdir option: %w", err)
	}
	return env, nil
}

// newClient makes the one HTTP client of the program.
func newClient(userAgent string, env command.Environment, stderr io.Writer) (*http.Client, error) {
	opts := hosts.ClientOptions{
		UserAgent:     userAgent,
		Retries:       hosts.ResolveRetries(env.Get("TF_REGISTRY_DISCOVERY_RETRY")),
		HeaderTimeout: hosts.ResolveTimeout(env.Get("TF_REGISTRY_CLIENT_TIMEOUT")),
		Now:           time.Now,
		CertFile:      env.Get("SSL_CERT_FILE"),
		CertDir:       env.Get("SSL_CERT_DIR"),
	}
	opts.Log = debugLog(env, stderr)
	return hosts.NewClient(opts)
}

// debugLog is where details go that are told on demand; nil if nobody asks.
func debugLog(env command.Environment, stderr io.Writer) *slog.Logger {
	switch strings.ToLower(env.Get("TF_LOG")) {
	case "debug", "trace":
		return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	default:
		return nil
	}
}

// homeDir is the user's directory; "" if there is none. Not os.UserHomeDir: HOME
// counts on every system, and need not be set on any.
func homeDir(env command.Environment) string {
	if home := env.Get("HOME"); home != "" {
		return home
	}
	user, err := user.Current()
	if err != nil {
		return ""
	}
	return user.HomeDir
}

// cacheDir is where we keep what can be found out again; "" if there is no place.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tfdeps")
}

// stateDir is where we keep what we know of this machine, which would be wrong
// on another one; "" if there is no place.
func stateDir(env command.Environment, goos string) string {
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

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// ownVersion is the version of this build, as far as Go knows it.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
