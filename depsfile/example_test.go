package depsfile_test

import (
	"fmt"
	"os"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

func ExampleDecode() {
	src := []byte(`
provider "registry.terraform.io/hashicorp/random" {
  version     = "3.6.2"
  constraints = "~> 3.6"
  hashes = [
    "zh:0ef01a4f81147b32c1bea3429974d4d104bbc4be2ba3cfa667031a8183ef88ec",
  ]
}
`)
	locks, diags := depsfile.Decode(src, ".terraform.lock.hcl", getproviders.Terraform("1.15.9"))
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	for _, lock := range locks.All() {
		fmt.Println(lock.Provider, lock.Version, lock.Constraints, len(lock.Hashes))
	}
	// Output: registry.terraform.io/hashicorp/random 3.6.2 ~> 3.6 1
}

func ExampleLocks_Encode() {
	product := getproviders.Terraform("1.15.9")
	random, err := product.ParseProvider("hashicorp/random")
	if err != nil {
		fmt.Println(err)
		return
	}
	var locks depsfile.Locks
	locks.Set(depsfile.Lock{
		Provider:    random,
		Version:     getproviders.MustParseVersion("3.6.2"),
		Constraints: getproviders.MustParseConstraints("~>3.6"),
		Hashes:      []getproviders.Hash{"h1:wmG0QFjQ2OfyPy6BB7mQ57WtoZZGGV07uAPQeDmIrAE="},
	})
	os.Stdout.Write(locks.Encode(product))
	// Output:
	// # This file is maintained automatically by "terraform init".
	// # Manual edits may be lost in future updates.
	//
	// provider "registry.terraform.io/hashicorp/random" {
	//   version     = "3.6.2"
	//   constraints = "~> 3.6"
	//   hashes = [
	//     "h1:wmG0QFjQ2OfyPy6BB7mQ57WtoZZGGV07uAPQeDmIrAE=",
	//   ]
	// }
}
