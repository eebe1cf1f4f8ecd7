package screentest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// Browse opens a URL in Chromium, with a new profile in dir, and returns its output: with --dump-dom,
// the page after its scripts ran. It skips the test without Chromium, or with -short.
func Browse(t *testing.T, dir, url string, options ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a short test starts no browser")
	}
	chromium, err := peertest.PeerProgram("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	options = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir=" + filepath.Join(dir, "profile")}, options...)
	cmd := exec.CommandContext(t.Context(), chromium, append(options, url)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return string(out)
}
