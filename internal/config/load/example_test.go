package load_test

import (
	"fmt"
	"log"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
)

func ExampleLoadModule() {
	product := getproviders.Terraform("1.15.9")
	module, diags := load.LoadModule("testdata/example", product)
	if bad := module.CheckVersion(); bad.HasErrors() {
		log.Fatal(bad) // the other problems may be due to it
	}
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	reqs, diags := module.Requirements()
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	for _, provider := range reqs.Providers() {
		fmt.Printf("%s %q\n", provider, reqs.Constraints(provider))
	}
	// Output:
	// registry.terraform.io/hashicorp/null ""
	// registry.terraform.io/hashicorp/random "~> 3.5"
}
