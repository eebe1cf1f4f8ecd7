package providercache

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// archive is a package archive that has been received: whole, and in a place
// that is private.
type archive struct {
	Path     string
	Size     int64
	SHA256   [sha256.Size]byte
	Streamed streamed // what was unpacked on the way; nil if nothing was
}

// receive gets the archive and what it is judged by, both at the same time. On
// its way the archive is unpacked to dir.
func (in *Installer) receive(ctx context.Context, t task, path, dir string, progress func(done, total int64)) (received archive, authenticator getproviders.Authenticator, err error) {
	gates, err := in.gates(ctx)
	if err != nil {
		return archive{}, nil, t.failed(StepFetch, err)
	}
	download := func(ctx context.Context) (err error) {
		leave, err := gates.downloads.Acquire(ctx, 0)
		if err == nil {
			defer leave()
			received, err = in.download(ctx, t.Package.Location, path, dir, transfer{gates.unpacks, progress, leave})
		}
		if err != nil {
			return t.failed(StepFetch, err)
		}
		return nil
	}
	load := func(ctx context.Context) (err error) {
		authenticator, err = t.loadTrust(ctx)
		return err
	}
	err = par.Together(ctx, load, download)
	return received, authenticator, err
}

// transfer is what a download has to do with others.
type transfer struct {
	unpacks  *par.Limit
	progress func(done, total int64) // nil: nobody listens
	received func()                  // called when the last byte is there
}

// download copies an archive to a new file at path and computes its checksum
// while the bytes pass. Behind it the file is unpacked to dir.
func (in *Installer) download(ctx context.Context, from getproviders.Location, path, dir string, t transfer) (received archive, err error) {
	body, total, err := in.open(ctx, from)
	if err != nil {
		return archive{}, err
	}
	limits := in.Limits.withDefaults()
	if total > limits.PackageBytes {
		body.Close()
		return archive{}, fmt.Errorf("%s: %w", from, &hosts.TooLargeError{Limit: limits.PackageBytes})
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		body.Close()
		return archive{}, err
	}
	defer file.Close()
	var mark par.Mark
	var onTheWay streamed
	err = par.Together(ctx,
		func(ctx context.Context) (err error) {
			defer t.received()
			defer body.Close()
			received, err = copyArchive(ctx, from, file, in.meter(body, total, t.progress), total, limits.PackageBytes, &mark)
			mark.End(err)
			return err
		},
		func(ctx context.Context) error {
			behind := &follower{ctx: ctx, file: file, mark: &mark, place: &place{gate: t.unpacks, weight: total}}
			onTheWay = stream(behind, dir, limits)
			return nil // what can't be done on the way is done afterwards
		},
	)
	received.Path, received.Streamed = path, onTheWay
	return received, err
}

// copyArchive writes an archive to its file, tells the mark how far it has
// come, and checks that all of it came.
func copyArchive(ctx context.Context, from getproviders.Location, file io.Writer, body io.Reader, total, limit int64, mark *par.Mark) (archive, error) {
	sum := sha256.New()
	target := io.MultiWriter(sum, file, advance{mark})
	size, err := copyChunks(ctx, target, io.LimitReader(body, limit+1), make([]byte, bufferBytes))
	switch {
	case err != nil:
		return archive{}, incomplete(from, size, total, err)
	case size > limit:
		return archive{}, fmt.Errorf("%s: %w", from, &hosts.TooLargeError{Limit: limit})
	case total >= 0 && size != total:
		return archive{}, incomplete(from, size, total, io.ErrUnexpectedEOF)
	}
	return archive{Size: size, SHA256: [sha256.Size]byte(sum.Sum(nil))}, nil
}

// advance moves a mark by what was written before it in a MultiWriter.
type advance struct{ mark *par.Mark }

// Write implements io.Writer.
func (a advance) Write(p []byte) (int, error) {
	a.mark.Advance(int64(len(p)))
	return len(p), nil
}
