package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// errStale says that a server doesn't have the rest of what it had the
// beginning of.
var errStale = errors.New("the server has another archive than before")

// body reads an archive that isn't on this machine. When reading fails, its opener opens it again at the next byte.
type body struct {
	ctx       context.Context
	from      opener
	reader    io.ReadCloser // nil: it couldn't be opened again
	broken    error         // what the reader ended with
	pos       int64         // of the reader's next byte
	total     int64         // -1: not known
	combined  bool          // what was read comes from several readers
	restarted bool          // it has begun again
	tries     tries
}

// opener opens an archive for a body: behind a URL, or by its Location.
type opener interface {
	// open opens the archive at a position, up to which an earlier run or reader read it, and sets what the body knows of
	// it. The body may begin with the first byte nevertheless: see its pos. errStale: that would be the rest of another
	// archive than the one whose beginning is there.
	open(b *body, from int64) error
	// resume opens the archive again after reading it has failed.
	resume(b *body, cause error) error
	// wrap says which archive an error is about, and how far that had come.
	wrap(b *body, err error) error
	modified() time.Time
}

// newBody opens an archive that isn't on this machine at a position.
func newBody(ctx context.Context, o Opening, at int64) (*body, error) {
	b := &body{ctx: ctx, total: -1}
	switch location := o.Location.(type) {
	case getproviders.HTTPArchive:
		b.from = &webOpener{opening: o, at: location}
	case getproviders.Archive:
		b.from = &locationOpener{at: location, known: o.Known}
	default:
		return nil, fmt.Errorf("can't fetch from a location of type %T", location)
	}
	err := b.from.open(b, at)
	if errors.Is(err, errStale) {
		err = b.from.open(b, 0)
	}
	if err != nil {
		return nil, b.from.wrap(b, err)
	}
	return b, nil
}

// Length implements source.
func (b *body) Length() int64 { return b.total }

// Modified implements source.
func (b *body) Modified() time.Time { return b.from.modified() }

// Close implements io.Closer.
func (b *body) Close() error {
	if b.reader == nil {
		return nil
	}
	err := b.reader.Close()
	b.reader = nil
	return err
}

// Read implements io.Reader. It returns io.EOF only at the length that was announced, if
// one was. Other errors are errRestart, or final.
func (b *body) Read(p []byte) (int, error) {
	if b.broken == nil {
		n, err := b.reader.Read(p)
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
	return 0, b.from.resume(b, b.broken)
}

// resumed decides how to continue after the archive was opened again, after read bytes of the earlier
// reader and the failure cause: with its next byte, from the first byte once, or not.
func (b *body) resumed(read int64, cause error) error {
	switch {
	case b.pos == read:
		return nil
	case b.restarted:
		return cause
	}
	return b.restart()
}

// restart has the body begin again, which it does once.
func (b *body) restart() error {
	b.restarted, b.tries.at = true, 0
	return errRestart
}

// Renew implements source: what was read has the wrong checksum. It returns nil if to begin again
// can't help, because all of it came from one reader.
func (b *body) Renew() error {
	if !b.combined || b.restarted {
		return nil
	}
	again := b.restart()
	if err := b.from.open(b, 0); err != nil {
		return b.from.wrap(b, err)
	}
	return again
}

// A transfer is resumed as long as that yields bytes, but not without limit.
const (
	maxTries    = 10 // in all
	maxFailures = 3  // in a row that yield no bytes
)

// tries counts how often a transfer is resumed.
type tries struct {
	made     int
	failures int   // in a row, the one that is being made included
	at       int64 // the transfer's position at the last one that yielded bytes
}

// another reports whether there may be one more, now that the transfer is at pos.
func (t *tries) another(pos int64) bool {
	if pos > t.at {
		t.at, t.failures = pos, 0
	}
	t.made++
	t.failures++
	return t.made <= maxTries && t.failures <= maxFailures
}
