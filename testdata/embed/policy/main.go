// Command policy installs a provider by the rules of a company: no unsigned
// package, and none of the forbidden versions, wherever the
// package is.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: policy ADDRESS DIRECTORY [FORBIDDEN VERSION]...")
		os.Exit(1)
	}
	err := install(context.Background(), os.Args[1], os.Args[2], os.Args[3:])
	if refused := getproviders.FaultOf(err, getproviders.ErrRefused); refused != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", refused.Provider, refused.Version, refused)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rules returns a policy. It is also called for installed packages and for packages in a
// cache.
func rules(forbidden []string) func(context.Context, getproviders.Candidate) error {
	return func(_ context.Context, c getproviders.Candidate) error {
		switch {
		case slices.Contains(forbidden, c.Version.String()):
			return fmt.Errorf("the company forbids version %s, which is %s", c.Version, c.State)
		case c.State == getproviders.StateFetched && c.Authentication.TrustLevel < getproviders.LevelCommunity:
			return fmt.Errorf("nobody signed %s", c.Location)
		}
		return nil
	}
}

func install(ctx context.Context, address, dir string, forbidden []string) error {
	product := getproviders.Terraform("1.15.9")
	provider, err := product.ParseProvider(address)
	if err != nil {
		return err
	}
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "policy", Retries: 1})
	if err != nil {
		return err
	}
	registry := &getproviders.RegistrySource{Client: client, Discovery: &getproviders.Discovery{Client: client}, Product: product}
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: registry, Client: client, Product: product, Policy: rules(forbidden), StateDir: filepath.Join(dir, "state")},
		Target:  &providercache.Store{Dir: filepath.Join(dir, ".terraform", "providers")},
	}
	ready, err := installer.Ensure(ctx, provider, getproviders.Constraints{})
	if err == nil {
		fmt.Println(ready.Provider, ready.Version)
	}
	return err
}
