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

// grace is how long a first interrupt has to take progress bars off the terminal, before a second one ends the process.
const grace = 250 * time.Millisecond

// memory is what all commands but the server need at most for what is well-formed. Above it the collector runs more often.
const memory = 300 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" && !slices.Contains(os.Args, "serve") {
		debug.SetMemoryLimit(memory)
	}
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A context of its own, so that the cause is context.Canceled whatever the
	// signal was. After the grace no signal is caught: the next one ends the program at once.
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
