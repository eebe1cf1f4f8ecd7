package servecmd

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/places"
)

func shell(t *testing.T) string {
	t.Helper()
	return peertest.LookProgram(t, "sh")
}

// TestRunCommand_HandsOnSignalsAndCodes: the command sends a signal to this process, which has to pass it on to the command.
func TestRunCommand_HandsOnSignalsAndCodes(t *testing.T) {
	scripts := map[string]int{"exit 0": 0, "exit 3": 3}
	maps.Copy(scripts, signalScripts)
	for script, want := range scripts {
		m := &cli.Meta{Context: t.Context(), Stdout: io.Discard, Stderr: io.Discard}
		must.Equal(t, must.Get(runCommand(t.Context(), m, []string{shell(t), "-c", script}, nil))(t), want, script)
	}
	must.Refuse(runCommand(t.Context(), &cli.Meta{}, []string{"/no/such/program"}, nil))(t, "a program that isn't there is no error")
}

// TestServe_WarnsBeforeTheCommandRuns: the command's own output may be long, and its exit code says nothing of the server.
func TestServe_WarnsBeforeTheCommandRuns(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	m := &cli.Meta{Context: t.Context(), Stdout: io.Discard, Stderr: &out, Now: time.Now, HomeDir: dir,
		Env:       cli.Environment{"PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + filepath.Join(dir, "none.tfrc")},
		NewClient: func(hosts.ClientOptions) (*http.Client, error) { return &http.Client{Transport: refusing{}}, nil }}
	code, err := run(m, []string{filepath.Join(dir, "store"), "--", shell(t), "-c", "echo ran >&2; exit 3"})
	before, _, ran := strings.Cut(out.String(), "ran\n")
	if code != 3 || err != nil || !ran || strings.Count(before, "none.tfrc") != 1 {
		t.Errorf("%d, %v: %s", code, err, &out)
	}
}

// childOf returns a child with the given services of hosts.
func childOf(f *front, forced map[hosts.Hostname]map[string]string, ending time.Duration) *child {
	c := &child{config: &cliconfig.Config{Hosts: forced}, front: f, ending: ending}
	c.net = sources.Network{Hosts: places.Hosts{Network: cliconfig.Network{Discovery: &hosts.Discovery{Client: &http.Client{Transport: refusing{}}, Forced: forced}}}}
	return c
}

// TestServeCommand_KeepsTheCodeOfTheCommand keeps an idle connection open when the command ends.
func TestServeCommand_KeepsTheCodeOfTheCommand(t *testing.T) {
	f, _ := frontOf(t)
	forced := map[hosts.Hostname]map[string]string{"registry.terraform.io": {}, "registry.opentofu.org": {}}
	c := childOf(f, forced, 10*time.Millisecond)
	accepted := filepath.Join(t.TempDir(), "accepted")
	server := &http.Server{ConnState: func(net.Conn, http.ConnState) { _ = os.WriteFile(accepted, nil, 0o600) }}
	server.BaseContext = func(l net.Listener) context.Context {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
			return t.Context()
		}
		t.Cleanup(func() { conn.Close() })
		return t.Context()
	}
	m := &cli.Meta{Context: t.Context(), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now}
	o := options{listen: "127.0.0.1:0", connections: maxConnections, command: []string{shell(t), "-c", `while [ ! -e "$1" ]; do sleep 0.01; done; exit 3`, "sh", accepted}}
	if code, late, err := serveCommand(m, o, c, server); code != 3 || len(late) != 1 || late.HasErrors() || err != nil {
		t.Errorf("%d, %v, %v", code, late, err)
	}
}

// TestServeCommand_IsUnderASecretPath: another user of the machine who knows the port can't use the server or find its path.
func TestServeCommand_IsUnderASecretPath(t *testing.T) {
	f, _ := frontOf(t)
	forced := map[hosts.Hostname]map[string]string{"registry.terraform.io": {}, "registry.opentofu.org": {"providers.v1": "https://a.example.com/p/"}}
	c := childOf(f, forced, endTimeout)
	dir := t.TempDir()
	told, asked := filepath.Join(dir, "told"), filepath.Join(dir, "asked")
	m := &cli.Meta{Context: t.Context(), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now}
	o := options{listen: "127.0.0.1:0", connections: maxConnections, command: []string{shell(t), "-c",
		`echo "$TF_CLI_CONFIG_FILE" >"$1.new"; mv "$1.new" "$1"; while [ ! -e "$2" ]; do sleep 0.01; done`, "sh", told, asked}}
	ended := make(chan error, 1)
	go func() {
		_, _, err := serveCommand(m, o, c, newServer(f.log))
		ended <- err
	}()
	var file []byte
	for file == nil {
		if t.Context().Err() != nil {
			t.Fatal("the command isn't told of the server")
		}
		time.Sleep(time.Millisecond)
		file, _ = os.ReadFile(told)
	}
	config := strings.TrimSpace(string(file))
	for path, mode := range map[string]os.FileMode{config: 0o600, filepath.Dir(config): 0o700} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	text := must.Get(os.ReadFile(config))(t)
	found := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/([A-Z2-7]{26})/registry\.opentofu\.org/`).FindStringSubmatch(string(text))
	if found == nil {
		t.Fatalf("%s", text)
	}
	for path, want := range map[string]bool{"/": false, "/registry.opentofu.org/a/b/versions": false, "/mirror/": false, "/healthz": false, "/metrics": false, "/status.json": false,
		"/" + strings.ToLower(found[2]) + "/registry.opentofu.org/a/b/versions": false, "/" + found[2] + "/registry.opentofu.org/a/b/versions": true} {
		resp := must.Get(http.Get("http://" + found[1] + path))(t)
		resp.Body.Close()
		must.Equal(t, resp.Header.Get("Content-Type") == "application/json", want, path, resp.Status, resp.Header)
	}
	must.Write(t, asked, "")
	must.Succeed(t, <-ended)
}
