package fetcher

import (
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// errH1Required says that a package can't be authenticated by its archive's checksum
// alone: unpack it and ask again.
var errH1Required = errors.New("the hash of the package's files is needed")

// expectsH1 reports whether an authenticator that refused a package accepts some
// h1, which it wasn't given.
func expectsH1(err error) bool {
	mismatch, ok := errors.AsType[*getproviders.ChecksumError](err)
	return ok && len(resolve.OfScheme(mismatch.Expected, getproviders.SchemeH1)) > 0
}
