// Command everywhere makes what other machines need of a provider: a lock file
// for two platforms, a mirror, and the directory that Terraform finds packages in
// by itself. One fetcher serves all three.
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
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/mirror"
	"github.com/tfdeps/tfdeps/providercache/store"
	"github.com/tfdeps/tfdeps/providercache/vendoring"
)

func main() {
	if err := fill(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fill makes them in a directory.
func fill(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: everywhere ADDRESS DIRECTORY")
	}
	product, dir := getproviders.Terraform("1.15.9"), args[1]
	provider, err := product.ParseProvider(args[0])
	if err != nil {
		return err
	}
	client, err := hosts.NewClient(hosts.ClientOptions{UserAgent: "everywhere", Retries: 1})
	if err != nil {
		return err
	}
	fetcher := &fetcher.Fetcher{
		Source: &getproviders.RegistrySource{Client: client, Discovery: &hosts.Discovery{Client: client}, Product: product},
		Client: client, Product: product,
		// What is known of packages is kept there, from one call to the next.
		StateDir: filepath.Join(dir, "state"),
		// Each archive is downloaded once for all three.
		ArchiveDir: filepath.Join(dir, "archives"),
	}
	defer os.RemoveAll(fetcher.ArchiveDir)
	platforms := []getproviders.Platform{{OS: "linux", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"}}
	request := lockhashes.Request{Requirements: getproviders.Requirements{}, Platforms: platforms}
	request.Requirements.Add(provider, getproviders.Requirement{})

	results, err := lockhashes.Lock(ctx, fetcher, request)
	if err != nil {
		return err
	}
	locks := results[0].Locks
	if err := locks.Save(filepath.Join(dir, depsfile.FileName), product); err != nil {
		return err
	}
	var wanted []mirror.Spec
	for _, w := range store.PackageSpecs(store.LockedBy(locks)) {
		wanted = append(wanted, mirror.Spec{PackageSpec: w, Locked: true})
	}
	packed := mirror.Directory(filepath.Join(dir, "mirror"))
	if _, err := mirror.Update(ctx, fetcher, packed, wanted, mirror.Options{Platforms: platforms}); err != nil {
		return err
	}
	request.Locks = locks
	plugins := vendoring.Options{Dir: filepath.Join(dir, "terraform.d", "plugins")}
	_, err = vendoring.Update(ctx, fetcher, plugins, request)
	return err
}
