package getproviders_test

import (
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
)

func ExampleProduct_ParseProvider() {
	product := getproviders.Terraform("1.15.9")
	for _, given := range []string{"aws", "ACME/Widget", "example.com:443/acme/widget", "acme/terraform-provider-widget"} {
		p, err := product.ParseProvider(given)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(p, "or", product.Short(p))
	}
	// Output:
	// registry.terraform.io/hashicorp/aws or hashicorp/aws
	// registry.terraform.io/acme/widget or acme/widget
	// example.com/acme/widget or example.com/acme/widget
	// invalid provider type: The type in provider source "acme/terraform-provider-widget" starts with "terraform-provider-". That is how repositories and executables of providers are named; source addresses leave it out.
	//
	// Did you mean "acme/widget"?
}

func ExampleConstraints_Newest() {
	var published []getproviders.Version
	for _, text := range []string{"1.1.0", "1.2.0", "1.2.7", "1.3.0-beta1", "2.0.0"} {
		published = append(published, getproviders.MustParseVersion(text))
	}
	for _, text := range []string{"~> 1.1", "~>1.2.0, != 1.2.7", "1.3.0-beta1", "> 2"} {
		c := getproviders.MustParseConstraints(text)
		if newest, ok := c.Newest(published); ok {
			fmt.Printf("%s: %s\n", c, newest)
		} else {
			fmt.Printf("%s: none\n", c)
		}
	}
	// Output:
	// ~> 1.1: 1.2.7
	// ~> 1.2.0, != 1.2.7: 1.2.0
	// 1.3.0-beta1: 1.3.0-beta1
	// > 2.0.0: none
}
