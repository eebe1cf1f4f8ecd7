package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Trust returns an environment with a CLI configuration, which trusts the
// CA.
func Trust(t *testing.T, ca *providertest.CA, cliConfig string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"ca.pem": string(ca.PEM()), "cli.tfrc": cliConfig} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Env(t, "SSL_CERT_FILE="+filepath.Join(dir, "ca.pem"), "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "cli.tfrc"), "CHECKPOINT_DISABLE=1")
}

// NewCountedRegistry starts a registry with providers p0, p1 and so on.
func NewCountedRegistry(t *testing.T, providers int) *providertest.Registry {
	t.Helper()
	registry := Start(t, providertest.NewRegistry, providertest.Options{})
	for i := range providers {
		for _, version := range []string{"1.0.0", "1.1.0"} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: fmt.Sprint("p", i), Version: version})
		}
	}
	return registry
}

// TakeDown makes all requests for providers to a registry fail.
func TakeDown(registry *providertest.Registry) {
	for _, kind := range []string{"discovery", "versions", "package", "sums", "signature", "archive"} {
		registry.Break(kind, providertest.Fault{Status: http.StatusServiceUnavailable})
	}
}

// WriteCAs writes the certificates of all registries' CAs to one file.
func WriteCAs(t *testing.T, registries []*providertest.Registry) string {
	t.Helper()
	var pem [][]byte
	for _, r := range registries {
		pem = append(pem, r.CAPEM())
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, bytes.Join(pem, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Start makes a server that runs until the test is over.
func Start[Server interface{ Close() }, Options any](tb testing.TB, make func(Options) (Server, error), opts Options) Server {
	tb.Helper()
	server, err := make(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(server.Close)
	return server
}

// NewCA makes a CA that several servers can share.
func NewCA(tb testing.TB) *providertest.CA {
	tb.Helper()
	return providertest.NewCA()
}

// Redirect returns the variables by which both programs find a registry at
// hosts.
func Redirect(tb testing.TB, registry *providertest.Registry, hosts ...string) []string {
	tb.Helper()
	env, err := registry.Env(tb.TempDir(), hosts...)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

// Serve starts a server's command, and returns the URL that it prints when it is ready. The rest of its output is ignored.
func Serve(cmd *exec.Cmd) (url string, err error) {
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	_, url, _ = strings.Cut(strings.TrimSpace(line), " at ")
	return url, err
}

// End ends a server by an interrupt. Windows sends one to all processes of a console or to none: there the server is killed.
func End(cmd *exec.Cmd) error {
	if runtime.GOOS == "windows" {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil
	}
	_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	return cmd.Wait()
}
