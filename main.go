// Command tfdeps installs what a Terraform or OpenTofu configuration depends on.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/tfdeps/tfdeps/command"
)

// grace is the time to remove progress bars after a first interrupt, before a second one can end the process.
const grace = 250 * time.Millisecond

// memory is the most that commands except serve need for well-formed input. Above it the garbage collector runs more often.
const memory = 300 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" && !slices.Contains(os.Args, "serve") {
		debug.SetMemoryLimit(memory)
	}
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// This context is separate from signals, so that its cause is context.Canceled for any
	// signal. After grace no signal is caught: the next one ends the program at once.
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(signals, func() {
		cancel()
		time.Sleep(grace)
		stop()
	})

	executable, _ := os.Executable() // "" with an error, as below
	cacheDir, _ := os.UserCacheDir()
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
