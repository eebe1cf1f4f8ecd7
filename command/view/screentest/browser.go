package screentest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// Browse has Chromium open a URL, with a profile of its own in dir, and returns what it prints, as --dump-dom does for
// the page as its scripts have left it. The test is skipped if there is no Chromium, or if it is a short one.
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
