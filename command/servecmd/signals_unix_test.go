//go:build unix

package servecmd

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
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

// TestServe_ReadsFilesAgainOnHangup sends SIGHUP, which would otherwise end this process, while it serves.
func TestServe_ReadsFilesAgainOnHangup(t *testing.T) {
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
		return serveOn(&cli.Meta{Context: ctx, Stdout: io.Discard}, o, server, listener, nil, f)
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
