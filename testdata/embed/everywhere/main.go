// Command everywhere makes, for other machines that need a provider, a lock file
// for two platforms, a mirror, and the directory in which Terraform finds packages
// by default. One fetcher is used for all three.
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
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

func main() {
	if err := fill(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fill makes all three in a directory.
func fill(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: everywhere ADDRESS DIRECTORY")
	}
	product, dir := getproviders.Terraform("1.15.9"), args[1]
	provider, err := product.ParseProvider(args[0])
	if err != nil {
		return err
	}
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "everywhere", Retries: 1})
	if err != nil {
		return err
	}
	fetcher := &providercache.Fetcher{
		Source: &getproviders.RegistrySource{Client: client, Discovery: &getproviders.Discovery{Client: client}, Product: product},
		Client: client, Product: product,
		// Hashes of packages are kept here, from one call to the next.
		StateDir: filepath.Join(dir, "state"),
		// Each archive is downloaded once for all three.
		ArchiveDir: filepath.Join(dir, "archives"),
	}
	defer os.RemoveAll(fetcher.ArchiveDir)
	platforms := []getproviders.Platform{{OS: "linux", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"}}
	request := providercache.LockRequest{Requirements: getproviders.Requirements{}, Platforms: platforms}
	request.Requirements.Add(provider, getproviders.Requirement{})

	results, err := fetcher.Lock(ctx, request)
	if err != nil {
		return err
	}
	locks := results[0].Locks
	if err := locks.Save(filepath.Join(dir, depsfile.FileName), product); err != nil {
		return err
	}
	var wanted []mirror.Spec
	for _, w := range providercache.PackageSpecs(locks) {
		wanted = append(wanted, mirror.Spec{PackageSpec: w, Locked: true})
	}
	packed := mirror.Directory(filepath.Join(dir, "mirror"))
	if _, err := mirror.Update(ctx, fetcher, packed, wanted, mirror.Options{Platforms: platforms}); err != nil {
		return err
	}
	request.Locks = locks
	plugins := mirror.VendorOptions{Dir: filepath.Join(dir, "terraform.d", "plugins")}
	_, err = mirror.Vendor(ctx, fetcher, plugins, request)
	return err
}
