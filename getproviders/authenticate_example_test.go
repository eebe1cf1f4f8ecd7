package getproviders_test

import (
	"fmt"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
)

// A package that a network mirror offers with two hashes needs one of them, if it is of a known
// scheme.
func ExampleAnyHash() {
	fromMirror := getproviders.AnyHash{"h1:dC2v1OCxVjHVt8bZQP6zuQ+GWxZQAdzS0k4oJsWbXYs=", "h9:not-known-yet"}
	result, err := fromMirror.Authenticate(getproviders.Digests{H1: "h1:dC2v1OCxVjHVt8bZQP6zuQ+GWxZQAdzS0k4oJsWbXYs="})
	fmt.Println(result.TrustLevel, err)

	_, err = fromMirror.Authenticate(getproviders.Digests{H1: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="})
	fmt.Println(err)
	// Output:
	// verified checksum <nil>
	// the package has checksum h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=, expected h1:dC2v1OCxVjHVt8bZQP6zuQ+GWxZQAdzS0k4oJsWbXYs=
}

// The documents that a registry keeps beside the archives of a release show who published it.
func ExampleSignedChecksums() {
	sums, err := os.ReadFile("testdata/vectors/hashicorp-null-3.1.0_SHA256SUMS")
	if err != nil {
		fmt.Println(err)
		return
	}
	signature, err := os.ReadFile("testdata/vectors/hashicorp-null-3.1.0_SHA256SUMS.sig")
	if err != nil {
		fmt.Println(err)
		return
	}
	archive := [32]byte{ // computed while the archive was downloaded
		0x53, 0xe3, 0x05, 0x45, 0xff, 0x89, 0x26, 0xa8, 0xe3, 0x0a, 0xd3, 0x06, 0x48, 0x99, 0x1c, 0xa8,
		0xb9, 0x3b, 0x6f, 0xa4, 0x96, 0x27, 0x2c, 0xd2, 0x3b, 0x26, 0x76, 0x3c, 0x8e, 0xe8, 0x45, 0x15,
	}
	checksums := getproviders.SignedChecksums{
		FileName:   "terraform-provider-null_3.1.0_linux_amd64.zip",
		SHA256:     archive,
		Sums:       sums,
		Signature:  signature,
		PublicKeys: []getproviders.PublicKey{{Armored: getproviders.DefaultSigningKeys().Official}},
		Keys:       getproviders.DefaultSigningKeys(),
	}
	result, err := checksums.Authenticate(getproviders.Digests{SHA256: archive})
	fmt.Println(result.TrustLevel, err)
	fmt.Println(len(result.Signed), "packages are covered")
	// Output:
	// signed by HashiCorp <nil>
	// 11 packages are covered
}
