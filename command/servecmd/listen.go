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
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// newServer returns a server with limits for requests. Bodies aren't limited, because they aren't read.
func newServer(log *slog.Logger) *http.Server {
	return &http.Server{
		MaxHeaderBytes: maxHeader, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100}, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

const (
	headerTimeout = 10 * time.Second // for the header of a request; a body has none
	idleTimeout   = 2 * time.Minute
	endTimeout    = 30 * time.Second // for requests that run when the server is to end
	always        = 1 << 62          // longer than any process

	maxConnections = 4096     // each takes a descriptor, and with TLS about 50 kB of memory
	maxHeader      = 64 << 10 // bytes of a request's header: room for a long URL and a token
)

// listen returns the socket of systemd if there is one, else a new one. The first line and its warning go by the listener's own address, and not by the option's:
// that of systemd may be public.
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

// serveAt serves until the program is interrupted. If options ask for it, certificates are got, and challenges are answered by http.
func serveAt(m *cli.Meta, stores sources.Network, o options, bucket blob.Bucket, server *http.Server, listener net.Listener, f *front) error {
	if len(o.acme.hosts) == 0 {
		return serveOn(m, o, server, listener, nil, f)
	}
	if o.acme.store != "" {
		opened, failed := openBucket(m, stores, o.acme.store)
		if failed != nil {
			return fmt.Errorf("-acme-store: %s", failed.Detail)
		}
		defer opened.Close()
		bucket = opened
	}
	issued, err := newCertificates(o.acme, "tfdeps/"+m.Version, bucket, f.log)
	if err != nil {
		return err
	}
	if o.acme.http != "" {
		end, err := serveBeside(m.Context, "-acme-http", o.acme.http, issued.manager.HTTPHandler(http.NotFoundHandler()), f.log)
		if err != nil {
			return err
		}
		defer end()
	}
	return serveOn(m, o, server, listener, issued, f)
}

// listenError says why a server can't listen where an option says, and what to do.
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

// serveOn serves until the program is interrupted, with the certificates that are issued to the server; nil: with that of the
// options, if there is one.
func serveOn(m *cli.Meta, o options, server *http.Server, listener net.Listener, issued *certificates, f *front) error {
	log := f.log
	scheme, again := "http", func() {}
	if issued != nil {
		scheme, server.TLSConfig = "https", issued.config()
	}
	if own := f.certificate; own != nil {
		scheme, server.TLSConfig = "https", &tls.Config{GetCertificate: own.get, MinVersion: tls.VersionTLS12}
		again = func() { own.get(nil) }
	}
	server.Handler = guard(server.Handler, o, listener.Addr(), log)
	listener = netutil.LimitListener(listener, o.connections)
	if url := fmt.Sprintf("%s://%s/mirror/", scheme, issued.nameOf(listener.Addr())); o.json {
		fmt.Fprintf(m.Stdout, "{\"url\":%q}\n", url)
	} else {
		fmt.Fprintf(m.Stdout, "Serving a mirror at %s\n", url)
	}
	terminated, stop := signal.NotifyContext(context.WithoutCancel(m.Context), syscall.SIGTERM)
	defer stop()
	return serveUntil(m.Context, server, listener, endTimeout, func(ctx context.Context) error {
		defer f.drain(terminated, stop, o.drain)
		untilEnd := onSignal(ctx, syscall.SIGHUP, func() {
			log.Info("files are read again")
			again()
		})
		if issued != nil {
			issued.get(ctx, listener.Addr())
		}
		return untilEnd(ctx)
	})
}

// serveBeside serves something else at an address that an option names, by http. What it returns ends that.
func serveBeside(ctx context.Context, option, address string, handler http.Handler, log *slog.Logger) (end func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(option, address, err)
	}
	server := newServer(log)
	server.Handler = guard(handler, options{listen: address}, listener.Addr(), log)
	return background(ctx, func(ctx context.Context) {
		if err := serveUntil(ctx, server, listener, time.Second, pauseUntilEnd); err != nil {
			log.Error("there is no answer any more at the address of "+option, "error", err.Error())
		}
	}), nil
}

// signalLag is how long a signal that has ended one context may take to end another one.
const signalLag = 100 * time.Millisecond

// drain lets balancers see that the server isn't ready before it stops to listen, if it was SIGTERM that ended it: someone who
// interrupts it doesn't wait. The next signal ends the process at once.
func (f *front) drain(terminated context.Context, stop func(), pause time.Duration) {
	interrupted := par.Pause(terminated, signalLag) == nil
	if stop(); interrupted {
		return
	}
	f.ending.Add(1)
	f.log.Info("the server is not ready any more, and ends soon", "drain", pause.String())
	par.Pause(context.WithoutCancel(terminated), pause)
}

// pauseUntilEnd ends with the context, and only with it.
func pauseUntilEnd(ctx context.Context) error {
	par.Pause(ctx, always)
	return nil
}

// errCutOff: the requests that ran when the server was to end took too long.
var errCutOff = errors.New("requests were cut off")

// serveUntil serves until a function has returned, and then until the requests that run have been answered, or the time
// for that is over, which is errCutOff. There is no other limit for the time that an archive takes.
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

// firstInherited is the file descriptor at which systemd hands over the first socket.
const firstInherited = 3

// inherited returns the socket that systemd has opened for this process, whose descriptor is fd; nil if there is none.
// LISTEN_PID says for which process the sockets are: a child has the same variables.
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
	defer file.Close() // the listener has a copy, which no child gets
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("the socket of LISTEN_FDS: %w", err)
	}
	return listener, nil
}
