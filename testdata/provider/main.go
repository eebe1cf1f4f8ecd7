// Command provider is a small but real Terraform provider: tests serve it from
// a registry of their own, let tfdeps install it, and then run the real plan
// and apply with it. It talks plugin protocol 6 and keeps what it manages in
// the state only, so that it needs nothing outside.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// version is what the provider calls itself; the linker may set it.
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
