package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/mitchellh/cli"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// Process is what the program gets from the process that it runs in. Nothing
// below this package asks the operating system for any of it.
type Process struct {
	Args           []string // with the program's name in front, as in os.Args
	Env            Environment
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Chdir          func(dir string) error // changes the working directory of the process
	Executable     string                 // the program's own file; "": not known
	UserCacheDir   string                 // where programs of this user keep what can be made again; "": nowhere
}

// Main is the program. It returns the exit code: 0 if all went well, 2 if a
// question was answered with no, else 1. The context ends when the user
// interrupts the program.
func Main(ctx context.Context, p Process) int {
	standIn, args := TakeStandIn(p.Args, p.Env)
	if standIn != nil && !Handles(slices.Collect(maps.Keys(commands(nil))), args) {
		real := &Meta{Env: p.Env, StandIn: standIn, Executable: p.Executable}
		return real.PassThrough(args, Streams{In: p.Stdin, Out: p.Stdout, Err: p.Stderr})
	}
	line, err := ParseCommandLine(args, p.Env)
	if err == nil {
		err = line.CheckGlobal()
	}
	env := p.Env
	if err == nil {
		env, err = changeDir(p, line.Dir)
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "Error: %s\n", err)
		return 1
	}
	return dispatch(newMeta(ctx, p, env, standIn, line.NoColor), line.Args)
}

// newMeta makes what the commands have in common.
func newMeta(ctx context.Context, p Process, env Environment, standIn *StandIn, noColor bool) *Meta {
	return &Meta{
		Context:    ctx,
		Stdin:      p.Stdin,
		Stdout:     p.Stdout,
		Stderr:     p.Stderr,
		NoColor:    noColor,
		Env:        env,
		Now:        p.Now,
		Log:        debugLog(env, p.Stderr),
		NewClient:  func(userAgent string) (*http.Client, error) { return newClient(userAgent, env, p) },
		HomeDir:    homeDir(env),
		CacheDir:   cacheDir(p.UserCacheDir),
		StateDir:   stateDir(env, runtime.GOOS),
		Executable: p.Executable,
		StandIn:    standIn,
		Version:    ownVersion(),
	}
}

// commands is the table of commands.
func commands(meta *Meta) map[string]cli.CommandFactory {
	return map[string]cli.CommandFactory{
		"cache":            func() (cli.Command, error) { return &CacheCommand{Meta: meta}, nil },
		"cache add":        func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "add"}, nil },
		"cache clean":      func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "clean"}, nil },
		"cache dir":        func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "dir"}, nil },
		"cache gc":         func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "gc"}, nil },
		"cache key":        func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "key"}, nil },
		"cache list":       func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "list"}, nil },
		"cache prune":      func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "prune"}, nil },
		"cache verify":     func() (cli.Command, error) { return &CacheCommand{Meta: meta, Verb: "verify"}, nil },
		"get":              func() (cli.Command, error) { return &GetCommand{Meta: meta}, nil },
		"hash":             func() (cli.Command, error) { return &HashCommand{Meta: meta}, nil },
		"init":             func() (cli.Command, error) { return &InitCommand{Meta: meta}, nil },
		"providers":        func() (cli.Command, error) { return &ProvidersCommand{Meta: meta}, nil },
		"providers lock":   func() (cli.Command, error) { return &ProvidersLockCommand{Meta: meta}, nil },
		"providers mirror": func() (cli.Command, error) { return &ProvidersMirrorCommand{Meta: meta}, nil },
		"providers verify": func() (cli.Command, error) { return &ProvidersVerifyCommand{Meta: meta}, nil },
		"vendor":           func() (cli.Command, error) { return &VendorCommand{Meta: meta}, nil },
		"providers urls":   func() (cli.Command, error) { return &ProvidersURLsCommand{Meta: meta}, nil },
		"version":          func() (cli.Command, error) { return &VersionCommand{Meta: meta}, nil },
	}
}

// dispatch runs the command that the arguments name.
func dispatch(meta *Meta, args []string) int {
	program := cli.CLI{
		Name:        "tfdeps",
		Args:        args,
		Commands:    commands(meta),
		HelpFunc:    func(map[string]cli.CommandFactory) string { return Usage },
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
	if code > ExitDiffers { // 127 of package cli: no such command
		code = 1
	}
	return code
}

// changeDir obeys -chdir, and returns the environment for what comes then: the
// CLI configuration is found from the directory that the program was called in.
func changeDir(p Process, dir string) (Environment, error) {
	env := p.Env
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
	if err := p.Chdir(dir); err != nil {
		return nil, fmt.Errorf("handling -chdir option: %w", err)
	}
	return env, nil
}

// newClient makes the one HTTP client of the program.
func newClient(userAgent string, env Environment, p Process) (*http.Client, error) {
	opts := hosts.ClientOptions{
		UserAgent:     userAgent,
		Retries:       hosts.ResolveRetries(env.Get("TF_REGISTRY_DISCOVERY_RETRY")),
		HeaderTimeout: hosts.ResolveTimeout(env.Get("TF_REGISTRY_CLIENT_TIMEOUT")),
		Now:           p.Now,
		CertFile:      env.Get("SSL_CERT_FILE"),
		CertDir:       env.Get("SSL_CERT_DIR"),
	}
	opts.Log = debugLog(env, p.Stderr)
	return hosts.NewClient(opts)
}

// debugLog is where details go that are told on demand; nil if nobody asks.
func debugLog(env Environment, stderr io.Writer) *slog.Logger {
	switch strings.ToLower(env.Get("TF_LOG")) {
	case "debug", "trace":
		return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	default:
		return nil
	}
}

// homeDir is the user's directory; "" if there is none. Not os.UserHomeDir: HOME
// counts on every system, and need not be set on any.
func homeDir(env Environment) string {
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

// stateDir is where we keep what we know of this machine, which would be wrong
// on another one; "" if there is no place.
func stateDir(env Environment, goos string) string {
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
