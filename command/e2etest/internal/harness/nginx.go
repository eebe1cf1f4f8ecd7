package harness

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// nginxConf makes nginx write only into the directory that it runs in.
const nginxConf = `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
  log_format path "$uri";
  access_log access.log path;
  client_body_temp_path temp;
  proxy_temp_path       temp;
  fastcgi_temp_path     temp;
  scgi_temp_path        temp;
  uwsgi_temp_path       temp;
`

// StartNginx starts nginx as the current user, until the test ends. In the configuration of servers, ADDRESS stands for a free
// address on loopback. files are written beside it. Its log of paths is access.log in dir. Without nginx the test is skipped.
func StartNginx(t *testing.T, servers string, files map[string][]byte) (address, dir string) {
	t.Helper()
	nginx := peertest.LookProgram(t, "nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx") // usually not on the PATH of users
	said := ""
	for range 5 { // another process may take the port first
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		address, dir = listener.Addr().String(), t.TempDir()
		listener.Close()
		must.Write(t, filepath.Join(dir, "nginx.conf"), nginxConf+strings.ReplaceAll(servers, "ADDRESS", address)+"\n}\n")
		for name, content := range files {
			must.Write(t, filepath.Join(dir, name), content)
		}
		if said = startNginx(t, nginx, dir); said == "" {
			return address, dir
		}
	}
	t.Fatalf("nginx ends as soon as it is started:\n%s", said)
	return "", ""
}

// startNginx returns "" when nginx listens, or its output if it
// ends. nginx runs until the test ends.
func startNginx(t *testing.T, nginx, dir string) (said string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), nginx, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	must.Succeed(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		if <-ended; t.Failed() {
			t.Logf("nginx: %s", &out)
		}
	})
	// nginx writes this file when it listens.
	for {
		if _, err := os.Stat(filepath.Join(dir, "nginx.pid")); err == nil {
			return ""
		}
		select {
		case <-ended:
			return "nginx: " + out.String()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
