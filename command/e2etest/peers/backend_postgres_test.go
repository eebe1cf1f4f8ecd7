package peers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// postgres is a database server on loopback.
type postgres struct{ url, psql string }

// startPostgres runs a server for the test. It refuses to run as root, who gives the directory to
// the user nobody.
func startPostgres(t *testing.T) postgres {
	t.Helper()
	initdb, server, psql := postgresProgram(t, "initdb"), postgresProgram(t, "postgres"), postgresProgram(t, "psql")
	dir, err := os.MkdirTemp("", "tfdeps-pg") // short, as the path of a socket has to be
	must.Succeed(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as []string
	if os.Getuid() == 0 {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("PostgreSQL refuses to be run by root, and there is no setpriv")
		}
		as = []string{setpriv, "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"}
		if out, err := exec.Command("chown", "nobody", dir).CombinedOutput(); err != nil {
			t.Skipf("chown: %v\n%s", err, out)
		}
	}
	command := func(line ...string) *exec.Cmd {
		line = slices.Concat(as, line)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = dir
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command(initdb, "-D", data, "-U", "tf", "-A", "trust", "-N").CombinedOutput(); err != nil {
		t.Skipf("initdb doesn't work here: %v\n%s", err, out)
	}
	port := freePort(t)
	running := command(server, "-D", data, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-k", dir, "-F")
	must.Succeed(t, running.Start())
	t.Cleanup(func() {
		_ = running.Process.Signal(os.Interrupt) // a fast shutdown; setpriv is the server by now
		_ = running.Wait()
	})
	p := postgres{fmt.Sprintf("postgres://tf@127.0.0.1:%d/postgres?sslmode=disable", port), psql}
	for t.Context().Err() == nil {
		if exec.Command(psql, p.url, "-c", "SELECT 1").Run() == nil {
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server doesn't answer")
	return p
}

func (p postgres) query(t *testing.T, text string) string {
	t.Helper()
	out, err := exec.Command(p.psql, p.url, "-At", "-c", text).Output()
	if err != nil {
		t.Fatalf("psql: %v%s", err, harness.StderrOf(err))
	}
	return string(out)
}

// postgresProgram finds a program on PATH, or where Debian has it.
func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Skipf("%s is not installed", name)
	}
	return found[len(found)-1]
}

func freePort(t *testing.T) int {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
