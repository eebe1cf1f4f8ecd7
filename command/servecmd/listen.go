package servecmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/par"
)

// newServer returns a server with limits for requests. Bodies aren't limited, because they aren't read.
func newServer(log *slog.Logger) *http.Server {
	return &http.Server{
		MaxHeaderBytes: maxHeader, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100}, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

const (
	headerTimeout = 10 * time.Second // for the header of a request; bodies have no timeout
	idleTimeout   = 2 * time.Minute
	endTimeout    = 30 * time.Second // for requests that are running when the server shuts down
	always        = 1 << 62          // longer than any process

	maxConnections = 4096     // each needs a file descriptor, and with TLS about 50 kB of memory
	maxHeader      = 64 << 10 // bytes of a request's header: room for a long URL and a token
)

// listen returns the socket of systemd if there is one, else a new one. The first log line and its warning use the listener's own address, because
// that of systemd may be public although -listen isn't.
func listen(m *cli.Meta, o options, log *slog.Logger, about ...any) (net.Listener, error) {
	listener, err := inherited(m.Env, os.Getpid(), firstInherited)
	if err == nil && listener == nil {
		if listener, err = new(net.ListenConfig).Listen(m.Context, "tcp", o.listen); err != nil {
			err = listenError("-listen", o.listen, err)
		}
	}
	if err != nil {
		return nil, err
	}
	begin(o, listener.Addr(), log, about...)
	return listener, nil
}

// listenError says why a server can't listen at the address of an option, and what to do.
func listenError(option, address string, err error) error {
	said, name := "of "+option, ""
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		name = dns.Name
	}
	form, isForm := errors.AsType[*net.AddrError](err)
	switch {
	case isForm:
		return fmt.Errorf("the address %q %s can't be used: %s. It has to be HOST:PORT, or :PORT for all addresses of this machine", address, said, form.Err)
	case name != "":
		return fmt.Errorf("the address %q %s can't be used: the name %q can't be resolved", address, said, name)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("the address %q %s is in use: another program listens there. Choose another port, or end that program", address, said)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("the address %q %s is not one of this machine", address, said)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("this user may not listen at the address %q %s: ports below 1024 are for root. Choose another port", address, said)
	}
	return fmt.Errorf("the address %q %s can't be used: %w", address, said, err)
}

// serveOn serves until the program is interrupted, with the certificate of -tls-cert, if there is one.
func serveOn(m *cli.Meta, o options, server *http.Server, listener net.Listener, f *front) error {
	log := f.log
	scheme, note, again := "http", "Terraform and OpenTofu need https: use -tls-cert and -tls-key, or a server in front of this one.\n", func() {}
	if own := f.certificate; own != nil {
		scheme, note, server.TLSConfig = "https", "", &tls.Config{GetCertificate: own.get, MinVersion: tls.VersionTLS12}
		again = func() { own.get(nil) }
	}
	server.Handler = guard(server.Handler, o, listener.Addr(), log)
	listener = netutil.LimitListener(listener, o.connections)
	if url := fmt.Sprintf("%s://%s/mirror/", scheme, nameOf(listener.Addr())); o.json {
		fmt.Fprintf(m.Stdout, "{\"url\":%q}\n", url)
	} else {
		fmt.Fprintf(m.Stdout, "Serving a mirror at %s\n%s", url, note)
	}
	terminated, stop := signal.NotifyContext(context.WithoutCancel(m.Context), syscall.SIGTERM)
	defer stop()
	return serveUntil(m.Context, server, listener, endTimeout, func(ctx context.Context) error {
		defer f.drain(terminated, stop, o.drain)
		return onSignal(ctx, syscall.SIGHUP, func() {
			log.Info("files are read again")
			again()
		})(ctx)
	})
}

// nameOf returns the address of a listener for people: with the name of this machine if the listener has all of its addresses.
func nameOf(on net.Addr) string {
	host, port, err := net.SplitHostPort(on.String())
	if err != nil {
		return on.String()
	}

	if net.ParseIP(host).IsUnspecified() {
		host, _ = os.Hostname()
	}
	return net.JoinHostPort(host, port)
}

// serveBeside serves another handler by http at the address of an option, until end is called.
func serveBeside(ctx context.Context, option, address string, handler http.Handler, log *slog.Logger) (end func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(option, address, err)
	}
	server := newServer(log)
	server.Handler = guard(handler, options{listen: address}, listener.Addr(), log)
	return background(ctx, func(ctx context.Context) {
		if err := serveUntil(ctx, server, listener, time.Second, pauseUntilEnd); err != nil {
			log.Error("the server no longer answers at the address of "+option, "error", err.Error())
		}
	}), nil
}

// signalLag is the maximum time between the ends of two contexts by the same signal.
const signalLag = 100 * time.Millisecond

// drain makes /readyz fail for a while before the server stops to listen, so that balancers notice it, if SIGTERM ended the server. After
// an interrupt it doesn't wait, because a person does. The next signal ends the process at once.
func (f *front) drain(terminated context.Context, stop func(), pause time.Duration) {
	interrupted := par.Pause(terminated, signalLag) == nil
	if stop(); interrupted {
		return
	}
	f.ending.Add(1)
	f.log.Info("the server is no longer ready, and shuts down soon", "drain", pause.String())
	par.Pause(context.WithoutCancel(terminated), pause)
}

// pauseUntilEnd returns when the context ends.
func pauseUntilEnd(ctx context.Context) error {
	par.Pause(ctx, always)
	return nil
}

// errCutOff says that running requests took too long when the server shut down.
var errCutOff = errors.New("requests were cut off")

// serveUntil serves until ended returns, and then until the running requests are answered. It returns errCutOff if that
// takes longer than ending. The time for an archive has no other limit.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener, ending time.Duration, ended func(context.Context) error) error {
	server.ReadHeaderTimeout, server.IdleTimeout = headerTimeout, idleTimeout
	return par.Together(ctx,
		func(context.Context) (err error) {
			if server.TLSConfig != nil {
				err = server.ServeTLS(listener, "", "")
			} else {
				err = server.Serve(listener)
			}
			if errors.Is(err, http.ErrServerClosed) {
				err = nil
			}
			return err
		},
		func(ctx context.Context) error {
			err := ended(ctx)
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
			defer cancel()
			if late := server.Shutdown(limited); late != nil {
				return errors.Join(err, fmt.Errorf("%w: %w", errCutOff, late), server.Close())
			}
			return err
		},
	)
}

// firstInherited is the file descriptor of the first socket that systemd passes.
const firstInherited = 3

// inherited returns the socket that systemd has opened for this process as the file descriptor fd, or nil without one.
// It compares LISTEN_PID with pid, because children inherit the variables.
func inherited(env cli.Environment, pid, fd int) (net.Listener, error) {
	if env.Get("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := env.Get("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("systemd has opened %q sockets (LISTEN_FDS), and there has to be one", n)
	}
	file := os.NewFile(uintptr(fd), "LISTEN_FDS")
	if file == nil {
		return nil, fmt.Errorf("the socket of LISTEN_FDS isn't there")
	}
	defer file.Close() // the listener has a copy, which is closed on exec
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("the socket of LISTEN_FDS: %w", err)
	}
	return listener, nil
}
