package fetch

import (
	"context"
	"errors"
	"io"

	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// downloadHashes hashes an archive and its files while it is downloaded. The error is
// unpack.ErrNotStreamable if that can't be done.
func (f *Fetcher) downloadHashes(ctx context.Context, t Request) (received download.Archive, content unpack.Content, err error) {
	leave, err := f.Enter(ctx, &t)
	if err != nil {
		return received, content, err
	}
	defer leave()
	from, err := download.Open(ctx, f.opening(t))
	if err != nil {
		return received, content, err
	}
	defer from.Close()
	for {
		if received, content, err = f.readSource(ctx, t, from); !errors.Is(err, download.ErrRestart) {
			return received, content, err
		}
	}
}

// readSource reads a source to its end.
func (f *Fetcher) readSource(ctx context.Context, t Request, from download.Source) (received download.Archive, content unpack.Content, err error) {
	limits, total := f.Limits.Package, from.Length()
	if total > limits.Bytes {
		return received, content, unpack.ErrNotStreamable // refused with a reason when the archive is unpacked
	}
	stream, err := unpack.HashStream(ctx, download.Metered(from, 0, total, f.Now, f.progress(ctx, t)), f.unpacks, total, limits)
	received = download.Archive{Size: stream.Size, SHA256: stream.SHA256, Modified: from.Modified()}
	switch {
	case errors.Is(err, unpack.ErrNotStreamable):
		return received, content, err
	case err != nil:
		return received, content, download.TransferFailure(ctx, t.Package.Location, stream.Size, total, err)
	case total >= 0 && stream.Size != total:
		return received, content, download.Incomplete(t.Package.Location.String(), stream.Size, total, io.ErrUnexpectedEOF)
	}
	if expected, known := t.Expected(); known && expected != stream.SHA256 {
		if err := from.Renew(); err != nil {
			return received, content, err
		}
	}
	content, err = stream.Content(t.Provider, limits)
	return received, content, err
}
