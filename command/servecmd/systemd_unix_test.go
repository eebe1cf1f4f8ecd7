//go:build unix

package servecmd

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// lines gets the lines of a log.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestServe_BySystemd is about what systemd does with a service.
func TestServe_BySystemd(t *testing.T) {
	t.Run("socket", inheritsTheSocket)
	t.Run("reload", readsFilesAgainOnHangup)
}

// readsFilesAgainOnHangup sends SIGHUP, which would otherwise end this process, while it serves.
func readsFilesAgainOnHangup(t *testing.T) {
	dir, logged := t.TempDir(), make(lines, 1000)
	ca := providertest.NewCA()
	cert, key, err := ca.ServerPEM()
	must.Succeed(t, err)
	o := options{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), connections: 1}
	must.Write(t, o.cert, cert)
	must.Write(t, o.key, key)
	log := slog.New(slog.NewTextHandler(logged, nil))
	server := newServer(log)
	server.Handler = http.NotFoundHandler()
	f := newFront(log, time.Now)
	must.Succeed(t, f.withFiles(t.Context(), o, &mirrorserver.Options{Log: log}, nil))
	listener := loopback(t)
	end := running(t, func(ctx context.Context) error {
		return serveOn(&cli.Meta{Context: ctx, Stdout: io.Discard}, o, server, listener, f)
	})
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // otherwise an early signal ends the test
	for _, want := range []string{"files are read again", "stays as it was"} {
		for line, tries := "", 0; !strings.Contains(line, want); tries++ {
			must.Succeed(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
			select {
			case line = <-logged:
			case <-time.After(10 * time.Millisecond):
				if tries > 1000 {
					t.Fatalf("%q isn't logged", want)
				}
			}
		}
		must.Write(t, o.cert, "none")
	}
	must.Succeed(t, end())
}

func inheritsTheSocket(t *testing.T) {
	opened := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer opened.Close()
	file := must.Get(opened.(*net.TCPListener).File())(t)
	defer file.Close()
	fd, err := syscall.Dup(int(file.Fd())) // inherited closes it
	must.Succeed(t, err)
	mine := cli.Environment{"LISTEN_PID=" + strconv.Itoa(os.Getpid()), "LISTEN_FDS=1"}
	got, err := inherited(mine, os.Getpid(), fd)
	if err != nil || got.Addr().String() != opened.Addr().String() {
		t.Fatalf("%v, %v, want %v", got, err, opened.Addr())
	}
	got.Close()
	if got, err := inherited(mine, os.Getpid()+1, fd); got != nil || err != nil {
		t.Errorf("the socket of another process: %v, %v", got, err)
	}
	must.Refuse(inherited(append(mine[:1:1], "LISTEN_FDS=2"), os.Getpid(), fd))(t, "two sockets are no error")
	must.Refuse(inherited(mine, os.Getpid(), fd))(t, "a socket that isn't there is no error")
}

// FuzzInherited sets the variables of systemd to anything: without a socket, inherited returns none.
func FuzzInherited(f *testing.F) {
	f.Add("7", "1")
	f.Add("7", "-1")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, pid, fds string) {
		const closed = 1 << 20 // no process has that descriptor
		listener, err := inherited(cli.Environment{"LISTEN_PID=" + pid, "LISTEN_FDS=" + fds}, 7, closed)
		if listener != nil || (err != nil) != (pid == "7") {
			t.Errorf("%v, %v", listener, err)
		}
	})
}
