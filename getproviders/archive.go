package getproviders

import (
	"context"
	"fmt"
	"io"
)

// ReaderArchive is an [Archive] that is anything which can be read at an offset: a file
// that is open, a blob of a database, bytes in memory.
type ReaderArchive struct {
	Name   string // for messages
	Reader io.ReaderAt
	Size   int64 // bytes
}

// String returns the name.
func (a ReaderArchive) String() string { return a.Name }

// Open implements Archive.
func (a ReaderArchive) Open(_ context.Context, offset int64) (OpenedArchive, error) {
	if a.Reader == nil || offset < 0 || offset > a.Size {
		return OpenedArchive{}, fmt.Errorf("there is nothing to read at byte %d of %d", offset, a.Size)
	}
	rest := io.NewSectionReader(a.Reader, offset, a.Size-offset)
	return OpenedArchive{Body: io.NopCloser(rest), Offset: offset, Size: a.Size}, nil
}

// TrustedBy is the Trust of a package that an authenticator authenticates: one's own
// signatures, a database of approved digests. What [AnyHash]
// knows beside that, such as the checksum to expect, is in it. Of a nil authenticator
// it is zero, and the package stays unauthenticated.
func TrustedBy(by Authenticator) Trust {
	if known, ok := by.(interface{ trust() Trust }); ok {
		return known.trust()
	}
	return Trust{Authenticator: by}
}
