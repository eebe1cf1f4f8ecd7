// Command provider is a small but real Terraform provider: tests serve it from
// their own registry, install it with tfdeps, and then run the real plan
// and apply with it. It speaks plugin protocol 6 and keeps its resources in
// the state only, so that it needs no service.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// version is the provider's version; the linker may set it.
var version = "1.0.0"

func main() {
	// The address only matters to a debugger that attaches. Any registry may
	// serve this provider, under any name that ends in "tiny".
	address := flag.String("address", "registry.example.com/tfdeps/tiny", "the provider's own address")
	flag.Parse()
	opts := providerserver.ServeOpts{Address: *address, ProtocolVersion: 6}
	if err := providerserver.Serve(context.Background(), newTiny, opts); err != nil {
		log.Fatal(err)
	}
}
