// Command install installs one provider from its registry, prints the progress,
// and writes a lock file.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

func main() {
	if err := install(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// install installs a provider at a version that a constraint allows below a directory.
func install(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("usage: install ADDRESS CONSTRAINT DIRECTORY")
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
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "install", Retries: 1})
	if err != nil {
		return err
	}
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{
			Source:  &getproviders.RegistrySource{Client: client, Product: product},
			Client:  client,
			Product: product,
			Observe: show,
		},
		Target: &providercache.Store{Dir: filepath.Join(args[2], ".terraform", "providers")},
	}
	required := getproviders.Requirements{}
	required.Add(provider, getproviders.Requirement{Constraints: constraints})

	lockFile := filepath.Join(args[2], depsfile.FileName)
	locks, diags := depsfile.Load(lockFile, product) // empty if there is no file
	if diags.HasErrors() {
		return diags
	}
	locks, _, err = installer.Install(ctx, required, locks, providercache.Normal)
	if err != nil {
		return err
	}
	return locks.Save(lockFile, product)
}

// show is called for one event at a time.
func show(_ context.Context, e event.Event) {
	switch {
	case e.Kind == event.Progress:
		fmt.Printf("%s %s: %d of %d bytes\n", e.Provider.Type, e.Version, e.Done, e.Total)
	case e.State == event.Fetched:
		fmt.Printf("%s %s: %s\n", e.Provider.Type, e.Version, e.Authentication.TrustLevel)
	}
}
