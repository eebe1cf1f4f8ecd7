package modulelock_test

import (
	"fmt"
	"log"

	"github.com/tfdeps/tfdeps/internal/config/modulelock"
)

// A tag that was moved is found by the commit and the hash that were locked.
func ExampleLocks_Check() {
	const file = `
module "dns" {
  source = "git::https://git.example.com/dns.git?ref=v1"
  commit = "0123456789abcdef0123456789abcdef01234567"
  hash   = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
}
`
	locks, diags := modulelock.Decode([]byte(file), modulelock.FileName)
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	for _, finding := range locks.Check([]modulelock.Lock{
		{
			Key:    "dns",
			Source: "git::https://git.example.com/dns.git?ref=v1",
			Commit: "89abcdef0123456789abcdef0123456789abcdef",
			Hash:   "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ=",
		},
		{Key: "net", Source: "registry.terraform.io/acme/net/cloud", Version: "1.2.0", Hash: "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ="},
	}) {
		fmt.Println(finding.Key, finding.State == modulelock.New, finding.Fields)
	}
	// Output:
	// dns false [commit hash]
	// net true []
}
