// Command plan prints what an installation would do, and changes nothing: which
// versions it would use, and which of them are installed, in the cache, or to be fetched.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: plan DIRECTORY ADDRESS...")
		os.Exit(1)
	}
	if err := show(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// show prints the plan for the newest versions of the providers, as JSON.
func show(ctx context.Context, dir string, addresses []string) error {
	product := getproviders.Terraform("1.15.9")
	client, err := getproviders.NewClient(getproviders.ClientOptions{UserAgent: "plan", Retries: 1})
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
		},
		Target: &providercache.Store{Dir: filepath.Join(dir, ".terraform", "providers")},
	}
	required := getproviders.Requirements{}
	for _, address := range addresses {
		provider, err := product.ParseProvider(address)
		if err != nil {
			return err
		}
		required.Add(provider, getproviders.Requirement{})
	}
	locks, diags := depsfile.Load(filepath.Join(dir, depsfile.FileName), product)
	if diags.HasErrors() {
		return diags
	}
	plan, err := installer.Plan(ctx, required, locks, providercache.Normal)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(plan)
}
