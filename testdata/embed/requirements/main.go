// Command requirements lists the providers that a directory requires: by its
// configuration, its modules and its state.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: requirements DIRECTORY")
		os.Exit(1)
	}
	dir, diags := configs.Read(context.Background(), os.Args[1], configs.Options{Product: getproviders.Terraform("1.15.9")})
	// The result is as complete as possible, even after errors.
	for _, provider := range dir.Requirements.Providers() {
		fmt.Printf("%s %q\n", provider, dir.Requirements.Constraints(provider).String())
	}
	for _, problem := range diags {
		fmt.Fprintln(os.Stderr, problem)
	}
	if diags.HasErrors() {
		os.Exit(1)
	}
}
