package sessions

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Ctrl-Break ends a run as Ctrl-C does, and can be sent to one process. Wine only has Ctrl-C, which reaches all processes of
// a console: this test isn't parallel, so that the console has only two.
func TestInterrupt_ByCtrlBreak(t *testing.T) {
	program := harness.Tfdeps(t)
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "aaa", Version: "1.0.0"})
	registry.Break("archive", providertest.Fault{Stall: true})
	env := harness.Env(t, append(harness.Redirect(t, registry, "example.com"), "TFDEPS_TERRAFORM_VERSION=1.15.9")...)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	interrupted := func(event uint32, flags uint32, group func(pid int) uint32) error {
		asked := registry.Requests("archive")
		cmd := exec.CommandContext(t.Context(), program, "init", "-no-color")
		var said bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = harness.WorkDir(t, "terraform {\n  required_providers {\n    aaa = { source = \"example.com/acme/aaa\" }\n  }\n}\n"), env, &said, &said
		cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags}
		must.Succeed(t, cmd.Start())
		for registry.Requests("archive") == asked && t.Context().Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		if err := windows.GenerateConsoleCtrlEvent(event, group(cmd.Process.Pid)); err != nil {
			must.Succeed(t, cmd.Process.Kill())
			_ = cmd.Wait()
			return err
		}
		_ = cmd.Wait()
		must.Equal(t, cmd.ProcessState.ExitCode(), 1, &said)
		must.Contain(t, said.String(), "canceled by an interrupt signal")
		return nil
	}
	err := interrupted(windows.CTRL_BREAK_EVENT, syscall.CREATE_NEW_PROCESS_GROUP, func(pid int) uint32 { return uint32(pid) })
	if err != nil {
		err = interrupted(windows.CTRL_C_EVENT, 0, func(int) uint32 { return 0 })
	}
	if err != nil {
		t.Skipf("there is no console: %v", err)
	}
}
