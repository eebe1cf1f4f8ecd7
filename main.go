// Command tfdeps installs what a Terraform or OpenTofu configuration depends on.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tfdeps/tfdeps/command"
)

func main() {
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A context of its own, so that the cause is context.Canceled whatever the
	// signal was. The second signal isn't caught: it ends the program at once.
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(signals, func() { stop(); cancel() })

	executable, err := os.Executable()
	if err != nil {
		executable = ""
	}
	cacheDir, err := os.UserCacheDir()
	if err != nil {
		cacheDir = ""
	}
	os.Exit(command.Main(ctx, command.Process{
		Args:         os.Args,
		Env:          os.Environ(),
		Stdin:        os.Stdin,
		Stdout:       os.Stdout,
		Stderr:       os.Stderr,
		Now:          time.Now,
		Chdir:        os.Chdir,
		Executable:   executable,
		UserCacheDir: cacheDir,
	}))
}
