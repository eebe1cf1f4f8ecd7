package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// errStale says that the server has another archive than the one whose beginning was read.
var errStale = errors.New("the server has another archive than before")

// body reads an archive that isn't on this machine. If reading fails, its opener reopens it at the next byte.
type body struct {
	ctx       context.Context
	from      opener
	reader    io.ReadCloser // nil: it couldn't be reopened
	broken    error         // the error that ended the reader
	pos       int64         // of the reader's next byte
	total     int64         // -1: unknown
	combined  bool          // the bytes read come from several readers
	restarted bool          // reading has restarted once
	tries     tries
}

// opener opens an archive for a body: by a URL, or by its Location.
type opener interface {
	// open opens the archive at offset from, up to which an earlier run or reader read it,
	// and sets the body's fields. The body may still begin with the first byte: its pos
	// says so. The error is errStale if the rest would be that of another archive.
	open(b *body, from int64) error
	// resume reopens the archive after a read failed.
	resume(b *body, cause error) error
	// wrap adds to an error which archive it is about, and how many bytes were read.
	wrap(b *body, err error) error
	modified() time.Time
}

// newBody opens an archive that isn't on this machine at an offset.
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

// Read implements io.Reader. It returns io.EOF only at the announced
// length, if any. Other errors are errRestart, or final.
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

// resumed decides how to continue after the archive was reopened. read is the offset that the earlier reader reached, and
// cause its error. It continues with the next byte, or restarts at the first byte once, or returns cause.
func (b *body) resumed(read int64, cause error) error {
	switch {
	case b.pos == read:
		return nil
	case b.restarted:
		return cause
	}
	return b.restart()
}

// restart makes the body restart, which it may do once.
func (b *body) restart() error {
	b.restarted, b.tries.at = true, 0
	return errRestart
}

// Renew implements source: the bytes have the wrong checksum. It returns nil if
// all of them came from one reader, because a restart wouldn't help.
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

// A transfer is resumed as long as it makes progress, up to a limit.
const (
	maxTries    = 10 // in all
	maxFailures = 3  // in a row that yield no bytes
)

// tries counts how often a transfer is resumed.
type tries struct {
	made     int
	failures int   // in a row, including the current one
	at       int64 // the transfer's position at the last attempt that yielded bytes
}

// another reports whether one more attempt is allowed, now that the transfer is at pos.
func (t *tries) another(pos int64) bool {
	if pos > t.at {
		t.at, t.failures = pos, 0
	}
	t.made++
	t.failures++
	return t.made <= maxTries && t.failures <= maxFailures
}
