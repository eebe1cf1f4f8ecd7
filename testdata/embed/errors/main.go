// Command errors distinguishes why a provider can't be installed: programs
// branch on error values of this module, because texts are for people.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: errors ADDRESS CONSTRAINT DIRECTORY")
		os.Exit(1)
	}
	err := install(context.Background(), os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Println(reason(err))
		os.Exit(1)
	}
}

// reason returns a program's own text for an error.
func reason(err error) string {
	failed, ok := getproviders.Failure(err)
	switch {
	case errors.Is(err, context.Canceled):
		return "ended by the user"
	case errors.Is(err, getproviders.ErrProviderNotFound):
		return "no such provider"
	case errors.Is(err, getproviders.ErrNoMatchingVersion), errors.Is(err, getproviders.ErrVersionNotFound):
		return "no such version"
	case errors.Is(err, getproviders.ErrPlatformMissing):
		return "not for this platform"
	case errors.Is(err, getproviders.ErrUnauthorized):
		return "a token is wanted"
	case errors.Is(err, getproviders.ErrUnreachable):
		return "try again later"
	case errors.Is(err, getproviders.ErrAuthentication):
		return "not what its publisher signed"
	case ok:
		return fmt.Sprintf("%s failed in step %q: %v", failed.Provider, failed.Step, failed.Err)
	default:
		return err.Error()
	}
}

func install(ctx context.Context, address, constraint, dir string) error {
	product := getproviders.Terraform("1.15.9")
	provider, err := product.ParseProvider(address)
	if err != nil {
		return err
	}
	constraints, err := getproviders.ParseConstraints(constraint)
	if err != nil {
		return err
	}
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "errors"})
	if err != nil {
		return err
	}
	registry := &getproviders.RegistrySource{Client: client, Discovery: &getproviders.Discovery{Client: client}, Product: product}
	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: registry, Client: client, Product: product},
		Target:  &providercache.Store{Dir: filepath.Join(dir, ".terraform", "providers")},
	}
	_, err = installer.Ensure(ctx, provider, constraints)
	return err
}
