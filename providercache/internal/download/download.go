// Package download downloads package archives.
//
//	archive, err := download.Download(ctx, download.Request{Opening: download.Opening{Location: at, Client: client}, Limit: limit, Path: path, ...})
//	defer archive.Discard()
//
// [Download] writes an archive to a file and hashes it meanwhile. A transfer that breaks off is resumed with range
// requests, if the server still has the same archive; with a PartialDir, later runs resume it as well. The request's
// Follow function reads the file while it grows. Its Hash function reads an archive without a file.
//
// Network failures are a *getproviders.Fault, error responses a *hosts.Fault with the
// Status. [Ask] returns an archive's size and modification time without downloading it.
package download

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// download is the download of one archive.
type download struct {
	Request
	file   *partialFile
	source source
	sum    hash.Hash         // of the bytes in the file
	hashed [sha256.Size]byte // by Hash, without a file
	size   int64             // how many bytes were read
	buffer []byte
}

// Download copies an archive to a new file, or to a partial file of an earlier run, and computes its
// checksum meanwhile. With Hash it writes no file. The caller discards the archive.
func Download(ctx context.Context, r Request) (Archive, error) {
	d := &download{Request: r}
	if r.Hash == nil {
		file, err := openTarget(r)
		if err != nil {
			return Archive{}, err
		}
		d.file, d.sum, d.buffer = file, sha256.New(), make([]byte, chunks.Size)
	}
	received, err := d.run(ctx)
	if err != nil {
		kept := d.file.keep(ctx.Err() != nil || errors.Is(err, getproviders.ErrUnreachable) || errors.Is(err, getproviders.ErrUnauthorized))
		if r.Kept != nil {
			r.Kept(kept)
		}
		return Archive{}, err
	}
	return received, nil
}

func (d *download) run(ctx context.Context) (received Archive, err error) {
	if err := d.recall(ctx); err != nil {
		return received, err
	}
	if d.source, err = d.open(ctx); err != nil {
		return received, err
	}
	defer d.source.Close()
	for {
		received, err = d.transfer(ctx)
		if !errors.Is(err, errRestart) {
			return received, err
		}
		if err := d.clear(); err != nil {
			return received, err
		}
	}
}

// recall hashes the bytes that an earlier run has downloaded.
func (d *download) recall(ctx context.Context) error {
	if d.file == nil || !d.file.kept {
		return nil
	}
	size, err := chunks.Copy(ctx, d.sum, io.LimitReader(d.file, d.Limit+1), d.buffer)
	d.size = size
	if err == nil && size > d.Limit {
		return d.clear()
	}
	return err
}

// open opens the rest of the archive, after the bytes in the file.
func (d *download) open(ctx context.Context) (source, error) {
	if local, ok := d.Location.(getproviders.LocalArchive); ok {
		return openFile(string(local))
	}
	if d.size > 0 && d.asExpected() {
		return whole(d.size), nil
	}
	b, err := newBody(ctx, d.Opening, d.size)
	if err != nil {
		return nil, err
	}
	if b.pos != d.size {
		if err := d.clear(); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// clear removes the downloaded bytes, and what Follow made of them.
func (d *download) clear() error {
	if d.size = 0; d.file == nil {
		return nil
	}
	d.sum.Reset()
	err := d.file.Truncate(0)
	if err == nil {
		_, err = d.file.Seek(0, io.SeekStart)
	}
	return errors.Join(err, d.Restart())
}

// transfer copies the source to the file while Follow reads it from its beginning, or has Hash read the source.
func (d *download) transfer(ctx context.Context) (received Archive, err error) {
	total := d.source.Length()
	if total > d.Limit {
		return received, d.tooLarge()
	}
	if d.Admit != nil {
		if err := d.Admit(total); err != nil {
			return received, err
		}
	}
	if d.Hash != nil {
		d.size, d.hashed, err = d.Hash(ctx, metered(d.source, 0, total, d.Now, d.Progress), total)
		return Archive{Size: d.size, SHA256: d.hashed, Modified: d.source.Modified()}, d.check(ctx, err)
	}
	var mark par.Mark
	mark.Advance(d.size)
	err = par.Together(ctx,
		func(ctx context.Context) error {
			err := d.copy(ctx, &mark)
			if !errors.Is(err, errRestart) {
				d.source.Close()
				d.Received()
			}
			mark.End(err)
			return err
		},
		func(ctx context.Context) error {
			d.Follow(ctx, d.file, &mark, total)
			return nil // if Follow failed, the complete archive is read later
		},
	)
	return Archive{Path: d.file.Name(), Size: d.size, SHA256: d.checksum(), Modified: d.source.Modified(), File: d.file}, err
}

// copy writes the rest of an archive to its file, and advances the mark.
func (d *download) copy(ctx context.Context, mark *par.Mark) error {
	target := io.MultiWriter(d.sum, d.file, chunks.Counting(mark.Advance))
	body := metered(io.LimitReader(d.source, d.Limit+1-d.size), d.size, d.source.Length(), d.Now, d.Progress)
	size, err := chunks.Copy(ctx, target, body, d.buffer)
	d.size += size
	return d.check(ctx, err)
}

// check returns err with its context, or an error if the archive has a wrong size or checksum.
func (d *download) check(ctx context.Context, err error) error {
	total := d.source.Length()
	switch {
	case err != nil:
		return transferFailure(ctx, d.Location, d.size, total, err)
	case d.size > d.Limit:
		return d.tooLarge()
	case total >= 0 && d.size != total:
		return incomplete(d.Location.String(), d.size, total, io.ErrUnexpectedEOF)
	}
	if d.Known && !d.asExpected() {
		return d.source.Renew()
	}
	return nil
}

func (d *download) checksum() [sha256.Size]byte {
	if d.Hash != nil {
		return d.hashed
	}
	return [sha256.Size]byte(d.sum.Sum(nil))
}

// asExpected reports whether the file has the expected checksum.
func (d *download) asExpected() bool { return d.Known && d.Expected == d.checksum() }

func (d *download) tooLarge() error {
	return fmt.Errorf("%s: %w", d.Location, hosts.TooLarge(d.Limit))
}

// whole is the empty rest of an archive that the file has completely.
type whole int64

func (whole) Read([]byte) (int, error) { return 0, io.EOF }
func (whole) Close() error             { return nil }
func (w whole) Length() int64          { return int64(w) }
func (whole) Renew() error             { return nil }
func (whole) Modified() time.Time      { return time.Time{} }
