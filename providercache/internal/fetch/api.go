package fetch

import (
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

type (
	// StatusError says that a server answered a request for an archive with another
	// status than it should: URL is what answered, without secrets, StatusCode and Status
	// are the answer's. It matches getproviders.ErrUnauthorized for 401 and 403, and
	// getproviders.ErrUnreachable for the rest.
	StatusError = download.StatusError

	// TransferError says that an archive couldn't be downloaded, or only a part of
	// it, in spite of all attempts: Archive is its URL without secrets, Done and Total
	// are bytes (Total is -1 if unknown), Err is the last cause. It matches
	// getproviders.ErrUnreachable and the cause.
	TransferError = download.TransferError

	// UnpackError says which entry of an archive is refused, and why: Rule is the
	// [UnpackRule] that the entry breaks, which errors.Is finds, too.
	UnpackError = unpack.Error

	// UnpackRule is a rule for the content of archives. It is an error, so that
	// errors.Is finds it in an UnpackError.
	UnpackRule = unpack.Rule
)
