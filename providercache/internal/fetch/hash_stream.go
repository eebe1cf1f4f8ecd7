package fetch

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// downloadHashes hashes an archive and its files while it is downloaded. The error is
// unpack.ErrNotStreamable if that can't be done. The time is that of the archive.
func (f *Fetcher) downloadHashes(ctx context.Context, t Request) (unpack.HashedStream, unpack.Content, time.Time, error) {
	limits, err := f.limits(ctx)
	if err != nil {
		return unpack.HashedStream{}, unpack.Content{}, time.Time{}, err
	}
	leave, err := limits.enter(ctx, t)
	if err != nil {
		return unpack.HashedStream{}, unpack.Content{}, time.Time{}, err
	}
	defer leave()
	from, err := download.Open(ctx, f.opening(t))
	if err != nil {
		return unpack.HashedStream{}, unpack.Content{}, time.Time{}, err
	}
	defer from.Close()
	for {
		received, content, err := f.readSource(ctx, t, from, limits.unpacks)
		if !errors.Is(err, download.ErrRestart) {
			return received, content, from.Modified(), err
		}
	}
}

// readSource reads a source to its end.
func (f *Fetcher) readSource(ctx context.Context, t Request, from download.Source, slots *par.Limit) (unpack.HashedStream, unpack.Content, error) {
	limits, total := f.Limits.Unpack(), from.Length()
	if total > limits.Bytes {
		return unpack.HashedStream{}, unpack.Content{}, unpack.ErrNotStreamable // refused with a reason when the archive is unpacked
	}
	received, err := unpack.HashStream(ctx, download.Metered(from, 0, total, f.Now, f.progress(ctx, t)), slots, total, limits)
	switch {
	case errors.Is(err, unpack.ErrNotStreamable):
		return unpack.HashedStream{}, unpack.Content{}, err
	case err != nil:
		return unpack.HashedStream{}, unpack.Content{}, download.TransferFailure(ctx, t.Package.Location, received.Size, total, err)
	case total >= 0 && received.Size != total:
		return unpack.HashedStream{}, unpack.Content{}, download.Incomplete(t.Package.Location.String(), received.Size, total, io.ErrUnexpectedEOF)
	}
	if expected, known := t.Expected(); known && expected != received.SHA256 {
		if err := from.Renew(); err != nil {
			return unpack.HashedStream{}, unpack.Content{}, err
		}
	}
	content, err := received.Content(t.Provider, limits)
	return received, content, err
}
