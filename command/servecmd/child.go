package servecmd

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/net/netutil"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// child is a command whose registries are at the server.
type child struct {
	config *cliconfig.Config // the user's
	net    sources.Network
	front  *front

	ending time.Duration // endTimeout, but shorter in tests
}

// usualHosts are the hosts of both products' registries.
var usualHosts = []hosts.Hostname{"registry.terraform.io", "registry.opentofu.org"}

// serveCommand serves while a command runs, and returns its exit code. late is a warning that the server
// didn't end in time after the command.
func serveCommand(m *cli.Meta, o options, c *child, server *http.Server) (code int, late problem.List, err error) {
	dir, err := scratch.Temporary()
	if err != nil {
		return 1, nil, err
	}
	defer dir.Remove()
	env, scheme := m.Env, "http"
	if o.https {
		made, err := newAuthority(dir.Path, m.Env, m.Now())
		if err != nil {
			return 1, nil, err
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{made.certificate}, MinVersion: tls.VersionTLS12}
		env, scheme = env.With("SSL_CERT_FILE="+made.file), "https"
	}
	// An interrupt is for the command: the server runs until the command has ended.
	ctx := context.WithoutCancel(m.Context)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return 1, nil, err
	}
	// The path is secret, so that other users of this machine can't use the server.
	path := "/" + rand.Text() + "/"
	limited := netutil.LimitListener(listener, o.connections)
	server.Handler = http.StripPrefix(path[:len(path)-1], c.front.logged(c.front.mirror))
	code = 1
	ran := false
	err = serveUntil(ctx, server, limited, c.ending, func(ctx context.Context) error {
		services, err := c.services(m.Context, o.hosts, scheme+"://"+listener.Addr().String()+path)
		if err != nil {
			return err
		}
		text, err := c.config.WriteWith(services)
		if err != nil {
			return err
		}
		file := filepath.Join(dir.Path, "cli.tfrc")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		code, err = runCommand(ctx, m, o.command, env.With("TF_CLI_CONFIG_FILE="+file))
		ran = err == nil
		return err
	})
	if ran && errors.Is(err, errCutOff) {
		return code, problem.List{problem.Warning("The server didn't end in time", problem.Sentence(err))}, nil
	}
	return code, nil, err
}

// services returns the host blocks of the command's CLI configuration: all services of each host, with the registries at the server.
// The other services are needed because a host block replaces the host's discovery document.
func (c *child) services(ctx context.Context, given []string, url string) (map[hosts.Hostname]map[string]any, error) {
	all := slices.Concat(usualHosts, slices.Sorted(maps.Keys(c.config.Hosts)))
	for _, text := range given {
		host, err := hosts.ParseHostname(text)
		if err != nil {
			return nil, fmt.Errorf("-host=%s: %w", text, err)
		}
		all = append(all, host)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	found, errs := par.Map(ctx, len(all), all, func(ctx context.Context, host hosts.Hostname) (map[string]any, error) {
		return c.net.Discovery.Services(ctx, host)
	})
	told := map[hosts.Hostname]map[string]any{}
	for i, host := range all {
		offered := found[i]
		if errs[i] != nil { // packages in the store can be installed while the host is down
			c.front.log.Warn("service discovery of a host failed, so the command is told only of its registries", "host", host.String(), "error", errs[i].Error())
			offered = map[string]any{providerService: "", moduleService: ""}
		}
		for _, service := range []string{providerService, moduleService} {
			if _, ok := offered[service]; ok {
				offered[service] = url + host.ASCII() + "/"
			}
		}
		told[host] = offered
	}
	return told, nil
}

const (
	providerService = "providers.v1"
	moduleService   = "modules.v1"

	discoveryTimeout = 10 * time.Second // short, because the command waits for it
)

// runCommand runs a command and returns its exit code; after a signal that of a shell, 128 and the signal.
func runCommand(ctx context.Context, m *cli.Meta, command []string, env []string) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, m.Stdin, m.Stdout, m.Stderr
	ended, end := context.WithCancel(ctx)
	defer end()
	var passing []func(context.Context) error
	for _, s := range passedSignals() {
		passing = append(passing, onSignal(ended, s.signal, func() { // caught before the command can send one
			if !s.fromTerminal() {
				cmd.Process.Signal(s.signal) // it may have ended meanwhile
			}
		}))
	}
	running := func(context.Context) error {
		defer end()
		return cmd.Wait()
	}
	if err := cmd.Start(); err != nil {
		return 1, commandError(command[0], err)
	}
	err := par.Together(ctx, append(passing, running)...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitCode(exit), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// commandError says why the command behind -- can't be started.
func commandError(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the command behind -- can't be started: there is no program %q on PATH", name)
	}
	return fmt.Errorf("the command behind -- can't be started: %s: %w", name, wrapped.Reason(err))
}

// passedSignal is a signal that is passed on to the command. The terminal sends an interrupt to the command itself.
type passedSignal struct {
	signal       os.Signal
	fromTerminal func() bool // reports whether the terminal has sent it to the command, too
}
