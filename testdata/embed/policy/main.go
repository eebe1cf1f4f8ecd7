// Command policy installs a provider, but none of the versions that the company
// has forbidden. A source that stands before another one decides.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// allowed is a source without the forbidden versions.
type allowed struct {
	getproviders.Source
	forbidden []string // "VERSION"
}

// Unwrap lets the source below answer what this one doesn't: where packages come
// from, for which platforms they are.
func (a allowed) Unwrap() getproviders.Source { return a.Source }

// Versions lists what is left.
func (a allowed) Versions(ctx context.Context, p getproviders.Provider) (getproviders.Available, error) {
	found, err := a.Source.Versions(ctx, p)
	found.Versions = slices.DeleteFunc(slices.Clone(found.Versions), a.forbids)
	return found, err
}

// Package refuses a forbidden version that a lock file selects.
func (a allowed) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	if a.forbids(v) {
		return getproviders.Package{}, fmt.Errorf("%s %s is forbidden by the company's policy", p, v)
	}
	return a.Source.Package(ctx, p, v, plat)
}

func (a allowed) forbids(v getproviders.Version) bool {
	return slices.Contains(a.forbidden, v.String())
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: policy ADDRESS DIRECTORY [FORBIDDEN VERSION]...")
		os.Exit(1)
	}
	if err := install(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func install(ctx context.Context, address, dir string, forbidden []string) error {
	product := getproviders.Terraform("1.15.9")
	provider, err := product.ParseProvider(address)
	if err != nil {
		return err
	}
	client, err := hosts.NewClient(hosts.ClientOptions{UserAgent: "policy", Retries: 1})
	if err != nil {
		return err
	}
	registry := &getproviders.RegistrySource{Client: client, Discovery: &hosts.Discovery{Client: client}, Product: product}
	installer := &providercache.Installer{
		Fetcher: &fetcher.Fetcher{Source: allowed{registry, forbidden}, Client: client, Product: product},
		Target:  &store.Store{Dir: filepath.Join(dir, ".terraform", "providers")},
	}
	ready, err := installer.Ensure(ctx, provider, getproviders.Constraints{})
	if err == nil {
		fmt.Println(ready.Provider, ready.Version)
	}
	return err
}
