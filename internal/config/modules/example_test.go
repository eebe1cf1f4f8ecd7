package modules_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// A tree is walked, and its requirements are printed, without writing a byte.
func ExampleResolver_Resolve() {
	product := getproviders.Terraform("1.15.9")
	root, diags := load.LoadModule("testdata/example", product)
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	installer := modules.Resolver{Dir: "testdata/example/.terraform/modules", Product: product}
	tree, diags := installer.Resolve(context.Background(), root, nil)
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	reqs, diags := tree.Requirements()
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	for _, module := range tree.Modules {
		fmt.Printf("%q in %s\n", module.Key, module.Dir)
	}
	for _, provider := range reqs.Providers() {
		for _, req := range reqs[provider] {
			fmt.Printf("%s %q %s\n", provider, req.Constraints, req.Pos.Module)
		}
	}
	// Output:
	// "" in .
	// "net" in net
	// "net.dns" in dns
	// registry.terraform.io/hashicorp/random "~> 3.5" module.net.module.dns
}
