package providercache_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestCache_OnAFileSystemWithoutFlock makes each flock(2) of some processes
// fail, as on network file systems: strace answers instead of the kernel.
func TestCache_OnAFileSystemWithoutFlock(t *testing.T) {
	needsReceipts(t)
	strace := peertest.LookProgram(t, "strace")
	if out, err := exec.CommandContext(t.Context(), strace, "-o", os.DevNull, "-e", "trace=none", "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, out)
	}
	source := newWidgetSource(t)
	source.From("acme/widget", "1.0.0", "the test")
	archive := source.Packages[acmeWidget][v1].Location.String()
	for _, errno := range peertest.FirstIfShort(1, "ENOLCK", "EOPNOTSUPP", "ENOSYS") {
		t.Run(errno, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cache, state := filepath.Join(dir, "cache"), filepath.Join(dir, "state")
			var all sync.WaitGroup
			for i := range 4 {
				all.Go(func() {
					trace := filepath.Join(dir, fmt.Sprint("trace", i))
					cmd := exec.CommandContext(t.Context(), strace, "-f", "--seccomp-bpf", "-o", trace, "-e", "trace=flock", "-e", "inject=flock:error="+errno,
						os.Args[0], archive, filepath.Join(dir, fmt.Sprint(i)), cache, state)
					cmd.Env = append(os.Environ(), dieVariable+"=fetched")
					checkWithoutFlock(t, cmd, trace)
				})
			}
			all.Wait()
			for _, root := range []string{"0", "1", "2", "3", "cache"} {
				root = filepath.Join(dir, root)
				must.Equal(t, read(t, widgetIn(root)), "provider 1.0.0\n", root)
				noStages(t, root)
			}
			isSound(t, cache, state, 1)
		})
	}
}

// checkWithoutFlock runs a process that has to install without file locks.
func checkWithoutFlock(t *testing.T, cmd *exec.Cmd, trace string) {
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	content, _ := os.ReadFile(trace)
	switch {
	case !ok || exit.ExitCode() != didFetch && exit.ExitCode() != didLink:
		t.Errorf("%v: %s", err, out)
	case !bytes.Contains(content, []byte("(INJECTED)")):
		t.Errorf("no flock failed, so this test shows nothing:\n%s", content)
	}
}
