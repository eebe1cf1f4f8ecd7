package providercache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// download is the receiving of one archive.
type download struct {
	transfer
	fetcher *Fetcher
	task    task
	limits  Limits
	file    *landing
	dir     string // what is received is unpacked to it
	source  source
	sum     hash.Hash // of what is in the file
	size    int64     // of the file
	buffer  []byte
}

// transfer is what a download has to do with others.
type transfer struct {
	unpacks  *par.Limit
	progress func(done, total int64) // nil: nobody listens
	received func()                  // called when the last byte is there
}

// download copies an archive to a new file at path, or to where it can be
// resumed, and computes its checksum while the bytes pass. Behind it the file
// is unpacked to dir. The caller discards what it gets.
func (f *Fetcher) download(ctx context.Context, t task, path, dir string, with transfer) (archive, error) {
	file, err := f.land(t, path)
	if err != nil {
		return archive{}, err
	}
	d := &download{
		transfer: with, fetcher: f, task: t, limits: f.Limits.withDefaults(), file: file, dir: dir,
		sum: sha256.New(), buffer: make([]byte, bufferBytes),
	}
	received, err := d.run(ctx)
	if err != nil {
		file.abandon(ctx.Err() != nil || errors.Is(err, getproviders.ErrUnreachable) || errors.Is(err, getproviders.ErrUnauthorized))
		return archive{}, err
	}
	return received, nil
}

func (d *download) run(ctx context.Context) (received archive, err error) {
	if err := d.recall(ctx); err != nil {
		return archive{}, err
	}
	if d.source, err = d.open(ctx); err != nil {
		return archive{}, err
	}
	defer d.source.Close()
	for {
		received, err = d.pass(ctx)
		if !errors.Is(err, errStartOver) {
			return received, err
		}
		if err := d.clear(); err != nil {
			return archive{}, err
		}
	}
}

// recall reads what an earlier run has left.
func (d *download) recall(ctx context.Context) error {
	if !d.file.kept {
		return nil
	}
	size, err := copyChunks(ctx, d.sum, io.LimitReader(d.file, d.limits.PackageBytes+1), d.buffer)
	d.size = size
	if err == nil && size > d.limits.PackageBytes {
		return d.clear()
	}
	return err
}

// open finds the rest of what is in the file.
func (d *download) open(ctx context.Context) (source, error) {
	at, ok := d.task.Package.Location.(getproviders.HTTPArchive)
	if !ok {
		return openFile(d.task.Package.Location.String())
	}
	if d.size > 0 && d.asExpected() {
		return whole(d.size), nil
	}
	_, sure := d.task.expected()
	w, err := openWeb(ctx, d.fetcher.client(), at, d.size, sure)
	if err != nil {
		return nil, err
	}
	if w.pos != d.size {
		err = d.clear()
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// clear forgets what was received, and what was made of it.
func (d *download) clear() error {
	d.sum.Reset()
	d.size = 0
	err := d.file.Truncate(0)
	if err == nil {
		_, err = d.file.Seek(0, io.SeekStart)
	}
	if d.dir != "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return err
}

// pass receives what the source has, and unpacks the archive from its beginning.
func (d *download) pass(ctx context.Context) (received archive, err error) {
	total := d.source.length()
	if total > d.limits.PackageBytes {
		return archive{}, d.tooLarge()
	}
	var mark par.Mark
	mark.Advance(d.size)
	var onTheWay streamed
	err = par.Together(ctx,
		func(ctx context.Context) error {
			err := d.copy(ctx, &mark)
			if !errors.Is(err, errStartOver) {
				d.source.Close()
				d.received()
			}
			mark.End(err)
			return err
		},
		func(ctx context.Context) error {
			behind := &follower{ctx: ctx, file: d.file, mark: &mark, place: &place{gate: d.unpacks, weight: total}}
			onTheWay = stream(behind, d.dir, d.limits)
			return nil // what can't be done on the way is done afterwards
		},
	)
	return archive{Path: d.file.Name(), Size: d.size, SHA256: d.checksum(), Streamed: onTheWay, file: d.file}, err
}

// copy writes the rest of an archive to its file, tells the mark how far it
// has come, and checks that all of it came.
func (d *download) copy(ctx context.Context, mark *par.Mark) error {
	limit, before := d.limits.PackageBytes, d.size
	target := io.MultiWriter(d.sum, d.file, advance{mark})
	body := d.fetcher.meter(io.LimitReader(d.source, limit+1-before), before, d.source.length(), d.progress)
	size, err := copyChunks(ctx, target, body, d.buffer)
	d.size += size
	total, from := d.source.length(), d.task.Package.Location.String()
	_, told := errors.AsType[*TransferError](err)
	switch {
	case told || errors.Is(err, errStartOver):
		return err
	case err != nil:
		return incomplete(from, d.size, total, err)
	case d.size > limit:
		return d.tooLarge()
	case total >= 0 && d.size != total:
		return incomplete(from, d.size, total, io.ErrUnexpectedEOF)
	}
	if w, ok := d.source.(*web); ok && w.sure && !d.asExpected() {
		return w.renew()
	}
	return nil
}

func (d *download) checksum() [sha256.Size]byte { return [sha256.Size]byte(d.sum.Sum(nil)) }

// asExpected reports whether the file is the archive that it should become.
func (d *download) asExpected() bool {
	sum, known := d.task.expected()
	return known && sum == d.checksum()
}

func (d *download) tooLarge() error {
	return fmt.Errorf("%s: %w", d.task.Package.Location, &hosts.TooLargeError{Limit: d.limits.PackageBytes})
}

// expected is the checksum that the archive should have, as far as that is known before.
func (t task) expected() (sum [sha256.Size]byte, ok bool) { return expectedBy(t.Package.Trust) }

// advance moves a mark by what was written before it in a MultiWriter.
type advance struct{ mark *par.Mark }

// Write implements io.Writer.
func (a advance) Write(p []byte) (int, error) {
	a.mark.Advance(int64(len(p)))
	return len(p), nil
}

// whole is the rest of an archive that is there already.
type whole int64

func (whole) Read([]byte) (int, error) { return 0, io.EOF }
func (whole) Close() error             { return nil }
func (w whole) length() int64          { return int64(w) }
