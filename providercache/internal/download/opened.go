package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
)

// reopenPause is how long to wait before an archive is opened again, doubled for
// each further attempt in a row that yields no bytes.
const reopenPause = 100 * time.Millisecond

// openedBody is an archive that its Location opens. When reading fails, it is opened
// again at the next byte, as resumableBody does for URLs.
type openedBody struct {
	ctx   context.Context
	at    getproviders.Archive
	known bool // the checksum is known, so that parts of different archives are detected

	body      io.ReadCloser // nil: it couldn't be opened again
	broken    error         // what the body ended with
	pos       int64         // of the body's next byte
	total     int64         // -1: not known
	validator string
	modified  time.Time
	combined  bool // what was read comes from several bodies
	restarted bool // it has begun again
	tries     tries
}

// openArchive opens an archive at a position, up to which an earlier run read it.
// The body may begin with the first byte nevertheless: see position.
func (o Opening) openArchive(ctx context.Context, at getproviders.Archive, from int64) (*openedBody, error) {
	b := &openedBody{ctx: ctx, at: at, known: o.Known, total: -1}
	err := b.open(from)
	if errors.Is(err, errStale) {
		err = b.open(0)
	}
	if err != nil {
		return nil, b.wrap(err)
	}
	return b, nil
}

func (b *openedBody) Length() int64   { return b.total }
func (b *openedBody) position() int64 { return b.pos }

// Close implements io.Closer.
func (b *openedBody) Close() error {
	if b.body == nil {
		return nil
	}
	err := b.body.Close()
	b.body = nil
	return err
}

// Read implements io.Reader. The error is ErrRestart, or final.
func (b *openedBody) Read(p []byte) (int, error) {
	if b.broken == nil {
		n, err := b.body.Read(p)
		b.pos += int64(n)
		if err == io.EOF && b.pos < b.total {
			err = io.ErrUnexpectedEOF
		}
		b.broken = err
		if n > 0 || err == nil {
			return n, nil
		}
	}
	if b.broken == io.EOF {
		return 0, io.EOF
	}
	return 0, b.resume(b.broken)
}

// resume opens the archive again after reading it has failed. An archive that can't
// be opened again is not tried once more: who opens it knows when that is of use.
func (b *openedBody) resume(cause error) error {
	if !b.tries.another(b.pos) {
		return b.wrap(cause)
	}
	if err := par.Pause(b.ctx, reopenPause<<(b.tries.failures-1)); err != nil {
		return err
	}
	read := b.pos
	err := b.open(read)
	if errors.Is(err, errStale) {
		err = b.open(0)
	}
	switch {
	case err != nil:
		return b.wrap(err)
	case b.pos == read:
		return nil
	case b.restarted:
		return b.wrap(cause)
	}
	b.restarted, b.tries.at = true, 0
	return ErrRestart
}

// Renew implements Source.
func (b *openedBody) Renew() error {
	if !b.combined || b.restarted {
		return nil
	}
	b.restarted, b.tries.at = true, 0
	if err := b.open(0); err != nil {
		return b.wrap(err)
	}
	return ErrRestart
}

// Modified implements Source.
func (b *openedBody) Modified() time.Time { return b.modified }

// open opens the archive from a position on. errStale: that would be the rest of
// another archive than the one whose beginning is there.
func (b *openedBody) open(from int64) error {
	b.Close()
	opened, err := b.at.Open(b.ctx, from)
	if err != nil {
		return err
	}
	b.body, b.modified, b.broken = opened.Body, opened.Modified, nil
	begins := from > 0 && opened.Offset == 0
	sized := b.total >= 0 && opened.Size >= 0
	same := b.validator != "" && b.validator == opened.Validator
	switch {
	case opened.Body == nil:
		return errors.New("it opened nothing")
	case opened.Offset != from && from == 0:
		return fmt.Errorf("it opened at byte %d in place of the first one", opened.Offset)
	case opened.Offset != from && !begins:
		return errStale
	case from == 0 || begins:
		b.pos, b.total, b.validator, b.combined = 0, opened.Size, opened.Validator, false
		return nil
	case sized && b.total != opened.Size, !same && (!b.known || b.validator != "" && opened.Validator != ""):
		return errStale
	}
	if b.total < 0 {
		b.total, b.validator = opened.Size, opened.Validator
	}
	b.pos, b.combined = from, true
	return nil
}

// wrap says which archive an error is about, and how far that had come.
func (b *openedBody) wrap(err error) error {
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case b.pos > 0:
		return interrupted(b.at, b.pos, b.total, err)
	}
	if strings.Contains(err.Error(), b.at.String()) { // as errors of buckets and requests do
		return err
	}
	return fmt.Errorf("%s: %w", b.at, err)
}

// Open opens an archive at any location.
func Open(ctx context.Context, o Opening) (Source, error) {
	if local, ok := o.Location.(getproviders.LocalArchive); ok {
		return OpenFile(string(local))
	}
	return o.openRemote(ctx, 0)
}

// openRemote opens an archive that isn't on this machine from a position on, up to
// which an earlier run downloaded it; it may begin at its first byte nevertheless.
func (o Opening) openRemote(ctx context.Context, from int64) (remote, error) {
	switch at := o.Location.(type) {
	case getproviders.HTTPArchive:
		w, err := o.openURL(ctx, at, from)
		if err != nil {
			return nil, err
		}
		return w, nil
	case getproviders.Archive:
		b, err := o.openArchive(ctx, at, from)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	return nil, fmt.Errorf("can't fetch from a location of type %T", o.Location)
}
