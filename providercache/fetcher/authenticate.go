package fetcher

import (
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// errNeedsH1 says that a package can't be judged by its archive's checksum
// alone: unpack it and ask again.
var errNeedsH1 = errors.New("the hash of the package's files is needed")

// expectsH1 reports whether an authenticator would have been content with an
// h1 that it wasn't given.
func expectsH1(err error) bool {
	mismatch, ok := errors.AsType[*getproviders.ChecksumError](err)
	return ok && len(resolve.OfScheme(mismatch.Expected, getproviders.SchemeH1)) > 0
}
