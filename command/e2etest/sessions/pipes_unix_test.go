//go:build unix

package sessions

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestInterrupt_OfPipesThatNobodyUses has a named pipe wherever a user can name a file. One interrupt ends the program while it
// waits for the other side.
func TestInterrupt_OfPipesThatNobodyUses(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	const config = `
terraform {
  backend "local" {}
}
`
	const remote = `
module "m" {
  source = "https://localhost:1/m.zip"
}
`
	for name, c := range map[string]struct {
		config string
		args   []string
		env    string
		silent bool // nothing shows that the program waits
	}{
		"-var-file":         {config: config, args: []string{"init", "-var-file=pipe"}},
		"-backend-config":   {config: config, args: []string{"init", "-backend-config=pipe"}},
		"-dirs-from":        {args: []string{"roots", "-dirs-from=pipe"}},
		"-dirs-from=-":      {args: []string{"roots", "-dirs-from=-"}, silent: true},
		"CLI configuration": {args: []string{"init"}, env: "TF_CLI_CONFIG_FILE=pipe"},
		".netrc":            {config: remote, args: []string{"init"}, env: "NETRC=pipe"},
		"-report":           {config: config, args: []string{"init", "-report=pipe"}, silent: true},
		"-json-into":        {config: config, args: []string{"init", "-json-into=pipe"}, silent: true},
		"the log":           {config: config, args: []string{"init"}, env: "TF_LOG_PATH=pipe", silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			must.Write(t, filepath.Join(dir, "main.tf"), c.config)
			must.Succeed(t, syscall.Mkfifo(pipe, 0o600))
			stdin, writer, err := os.Pipe()
			must.Succeed(t, err)
			defer stdin.Close()
			defer writer.Close()
			cmd := exec.CommandContext(t.Context(), program, c.args...)
			cmd.Dir, cmd.Env = dir, harness.Env(t, "TFDEPS_TERRAFORM_VERSION=1.15.9", "TF_LOG=trace", c.env)
			var said bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &said, &said
			must.Succeed(t, cmd.Start())

			if c.silent {
				time.Sleep(300 * time.Millisecond)
			} else {
				defer openedByTheOther(t, pipe).Close()
			}
			must.Succeed(t, cmd.Process.Signal(os.Interrupt))

			_ = cmd.Wait()
			must.Equal(t, cmd.ProcessState.ExitCode(), 1, said.String())
		})
	}
}

// openedByTheOther waits until another process reads a pipe, and opens it for writing.
func openedByTheOther(t *testing.T, pipe string) *os.File {
	t.Helper()
	for {
		file, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case err == nil:
			return file
		case !errors.Is(err, syscall.ENXIO) || t.Context().Err() != nil:
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
