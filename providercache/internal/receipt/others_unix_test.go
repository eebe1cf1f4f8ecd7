//go:build unix

package receipt

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// A process of another user may have opened a file for writing while that was allowed. What it writes
// later shows by the mtime, which only the file's owner can set back.
func TestKnown_AnotherUsersProcessThatStillCanWriteIsNoticed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user as well")
	}
	for _, name := range filesOfKept {
		for _, inCache := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in a cache: %t", name, inCache), func(t *testing.T) {
				t.Parallel()
				s := keepBelow(t, peertest.PublicDir(t))
				path := filepath.Join(s.Dir, name)
				before, err := os.Stat(path)
				must.Succeed(t, errors.Join(err, os.Chmod(path, 0o666)))
				write := openAsNobody(t, path)
				must.Succeed(t, os.Chmod(path, before.Mode()))
				time.Sleep(fineGranule + 10*time.Millisecond) // so that the ctime is past
				s.record(t, OpenCache(s.State, s.Root))
				known := func() bool {
					if _, ok := s.inCache(false); inCache {
						return ok
					}
					return s.isKnown()
				}
				must.Equal(t, known(), true, "the receipt is no good, so this test shows nothing")
				write()
				if after, err := os.Stat(path); err != nil || after.Size() != before.Size() {
					t.Fatalf("%v, so this test shows nothing", err)
				}
				must.Equal(t, known(), false, "what another user wrote isn't noticed")
			})
		}
	}
}

// openAsNobody makes another user's process open a file. write makes it
// change a byte of the file, try to set the mtime back, and end.
func openAsNobody(t *testing.T, path string) (write func()) {
	t.Helper()
	const nobody = 65534
	const script = `exec 3<>"$1"; touch -r "$1" "$2"; echo opened; read go; printf x >&3; touch -r "$2" "$1"; touch -r "$2" /proc/self/fd/3; true`
	stamp := filepath.Join(peertest.PublicDir(t), "stamp")
	must.Succeed(t, errors.Join(os.WriteFile(stamp, nil, 0o600), os.Chown(stamp, nobody, nobody)))
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script, "sh", path, stamp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	stdin, err := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	must.Succeed(t, errors.Join(err, outErr, cmd.Start()))
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "opened\n" {
		t.Fatalf("got %q: %v", line, errors.Join(err, cmd.Wait()))
	}
	return func() {
		t.Helper()
		_, err := stdin.Write([]byte("go\n"))
		must.Succeed(t, errors.Join(err, cmd.Wait()))
	}
}
