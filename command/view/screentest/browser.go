package screentest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// Browse opens a URL in Chromium, with a new profile, and returns its output: with --dump-dom, the page after its scripts
// ran. It skips the test with -short. Without Chromium it does what [peertest.LookProgram] says.
func Browse(t *testing.T, url string, options ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a short test starts no browser")
	}
	chromium := peertest.LookProgram(t, "chromium")
	dir := peertest.PublicDir(t) // a profile has a socket

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
