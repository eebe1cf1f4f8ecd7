package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// Who presses Ctrl-C twice at once is told what an interrupt keeps, too: the second one doesn't end the program in the middle
// of what the first one does on the terminal.
func TestInterrupt_TwiceAtOnceIsOne(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent there")
	}
	program := harness.Tfdeps(t)
	dir, bin := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), "module \"net\" {\n  source = \"git::https://git.example.com/net.git\"\n}\n")
	git := filepath.Join(bin, "git")
	must.Write(t, git, "#!/bin/sh\n: >\"$ASKED\"\ntrap '' INT TERM\nexec sleep 20\n") // which an interrupt doesn't end at once
	must.Succeed(t, os.Chmod(git, 0o755))
	said := ""
	for attempt := range 5 { // a busy machine may take longer between the two than a quarter of a second
		asked := filepath.Join(bin, fmt.Sprint("asked", attempt))
		env := harness.Env(t, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "ASKED="+asked, "TFDEPS_TERRAFORM_VERSION=1.15.9")
		code, out := interruptedTwice(t, exec.CommandContext(t.Context(), program, "init", "-no-color"), dir, env, asked)
		if code == 1 && strings.Contains(out, "Interrupted. Run again to continue.") {
			return
		}
		said += fmt.Sprintf("exit code %d\n%s\n", code, out)
	}
	t.Errorf("it ended and said\n%s", said)
}

// interruptedTwice sends a program two interrupts when a file is there, and returns its exit code, -1 if a signal has
// ended it, and what it said.
func interruptedTwice(t *testing.T, cmd *exec.Cmd, dir string, env []string, begun string) (code int, out string) {
	t.Helper()
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &said, &said
	must.Succeed(t, cmd.Start())
	for _, err := os.Stat(begun); err != nil && t.Context().Err() == nil; _, err = os.Stat(begun) {
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), said.String()
}
