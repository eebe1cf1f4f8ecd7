package sessions

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Ctrl-Break ends a run as Ctrl-C does. Other than that, it can be sent to one process alone.
func TestInterrupt_ByCtrlBreak(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "aaa", Version: "1.0.0"})
	registry.Break("archive", providertest.Fault{Stall: true})
	dir := harness.WorkDir(t, "terraform {\n  required_providers {\n    aaa = { source = \"example.com/acme/aaa\" }\n  }\n}\n")
	cmd := exec.CommandContext(t.Context(), program, "init", "-no-color")
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, harness.Env(t, append(harness.Redirect(t, registry, "example.com"), "TFDEPS_TERRAFORM_VERSION=1.15.9")...), &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	must.Succeed(t, cmd.Start())
	for registry.Requests("archive") == 0 && t.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid)); err != nil {
		must.Succeed(t, cmd.Process.Kill())
		_ = cmd.Wait()
		t.Skipf("there is no console: %v", err)
	}
	_ = cmd.Wait()
	must.Equal(t, cmd.ProcessState.ExitCode(), 1, &said)
	must.Contain(t, said.String(), "canceled by an interrupt signal")
}
