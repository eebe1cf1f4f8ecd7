package oracle

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestMirror_TofuLocksTheSame has OpenTofu install from mirrors that tfdeps in its place and
// OpenTofu itself have made: the lock files are the same, signed checksums included.
func TestMirror_TofuLocksTheSame(t *testing.T) {
	t.Parallel()
	tofu := harness.LookTofu(t)
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	env := harness.Env(t, append(harness.Redirect(t, registry, "registry.opentofu.org"), "TFDEPS_TOFU_VERSION="+tofuVersion(t, tofu))...)
	config := []byte(harness.LockConfig("a", "~> 1.0", "e", ""))
	var locks [2]string
	for i, program := range [2]string{linkedAs(t, "tofu"), tofu} {
		dir, mirror := t.TempDir(), t.TempDir()
		must.Write(t, filepath.Join(dir, "main.tf"), config)
		harness.Run(t, dir, env, append(append([]string{program, "providers", "mirror"}, strings.Fields(harness.FivePlatforms)...), mirror)...)
		server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.FileServer(http.Dir(mirror))})
		installation := fmt.Sprintf("provider_installation {\n  network_mirror { url = %q }\n}\n", server.BaseURL()+"/")
		harness.Run(t, dir, harness.Trust(t, ca, installation), tofu, "init", "-input=false")
		locks[i] = harness.LockOf(t, dir)
	}
	if locks[0] != locks[1] || !strings.Contains(locks[0], `"zh:`) {
		t.Errorf("--- from the mirror of tfdeps\n%s\n--- from that of OpenTofu\n%s", locks[0], locks[1])
	}
}
