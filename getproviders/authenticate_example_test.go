package getproviders_test

import (
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
)

// A package with two hashes from a network mirror must match one of them, if that has a known
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
