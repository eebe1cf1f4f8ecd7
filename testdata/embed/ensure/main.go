// Command ensure installs a provider, unless it is installed, at the newest version that
// a constraint allows, and starts it, without a configuration and a lock file. It is an example for tools
// that talk to providers themselves.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	if err := start(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start installs a provider below a directory, unless it is installed, and runs it.
func start(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("usage: ensure ADDRESS CONSTRAINT DIRECTORY")
	}
	product := getproviders.Terraform("1.15.9")
	provider, err := product.ParseProvider(args[0])
	if err != nil {
		return err
	}
	constraints, err := getproviders.ParseConstraints(args[1])
	if err != nil {
		return err
	}
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "ensure", Retries: 1})
	if err != nil {
		return err
	}
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{
			Source: &getproviders.RegistrySource{
				Client: client, Discovery: &getproviders.Discovery{Client: client}, Product: product,
			},
			Client:  client,
			Product: product,
			// Receipts, by which a later run knows a package without reading it.
			StateDir: filepath.Join(args[2], "state"),
		},
		Target: &providercache.Store{Dir: filepath.Join(args[2], "providers")},
	}
	ready, err := installer.Ensure(ctx, provider, constraints)
	if err != nil {
		return err
	}
	plugin := exec.CommandContext(ctx, ready.Executable)
	plugin.Stdout, plugin.Stderr = os.Stdout, os.Stderr
	return plugin.Run()
}
