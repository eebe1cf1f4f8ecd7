// Command embed is what a small program looks like that installs providers
// with this module's engine: one provider, from its origin registry, into a
// directory, with a lock file beside it. A test builds it and holds it to a
// size, so that those who embed the engine know what they get.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	if err := install(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// install puts a provider that fits a constraint below a directory.
func install(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("usage: embed ADDRESS CONSTRAINT DIRECTORY")
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
	client, err := hosts.NewClient(hosts.ClientOptions{UserAgent: "embed", Retries: 1})
	if err != nil {
		return err
	}
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: &getproviders.RegistrySource{
			Client: client, Discovery: &hosts.Discovery{Client: client}, Product: product,
		}, Client: client, Product: product},
		Target: &providercache.Store{Dir: filepath.Join(args[2], ".terraform", "providers")},
	}
	requirements := getproviders.Requirements{}
	requirements.Add(provider, getproviders.Requirement{Constraints: constraints})

	lockFile := filepath.Join(args[2], depsfile.FileName)
	locks, diags := depsfile.Load(lockFile, product)
	if diags.HasErrors() {
		return diags
	}
	locks, _, err = installer.Install(ctx, requirements, locks, providercache.Normal)
	if err != nil {
		return err
	}
	return locks.Save(lockFile, product)
}
