package download

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
)

// reopenPause is how long to wait before an archive is opened again, doubled for
// each further attempt in a row that yields no bytes.
const reopenPause = 100 * time.Millisecond

// locationOpener opens an archive by its Location.
type locationOpener struct {
	at        getproviders.Archive
	known     bool // the checksum is known, so that parts of different archives are detected
	validator string
	changed   time.Time
}

func (l *locationOpener) modified() time.Time { return l.changed }

// resume implements opener. An archive that can't
// be opened again is not tried once more: who opens it knows when that is of use.
func (l *locationOpener) resume(b *body, cause error) error {
	if !b.tries.another(b.pos) {
		return l.wrap(b, cause)
	}
	if err := par.Pause(b.ctx, reopenPause<<(b.tries.failures-1)); err != nil {
		return err
	}
	read := b.pos
	err := l.open(b, read)
	if errors.Is(err, errStale) {
		err = l.open(b, 0)
	}
	if err != nil {
		return l.wrap(b, err)
	}
	return b.resumed(read, l.wrap(b, cause))
}

// open implements opener.
func (l *locationOpener) open(b *body, from int64) error {
	b.Close()
	opened, err := l.at.Open(b.ctx, from)
	if err != nil {
		return err
	}
	b.reader, l.changed, b.broken = opened.Body, opened.Modified, nil
	begins := from > 0 && opened.Offset == 0
	sized := b.total >= 0 && opened.Size >= 0
	same := l.validator != "" && l.validator == opened.Validator
	switch {
	case opened.Body == nil:
		return errors.New("it opened nothing")
	case opened.Offset != from && from == 0:
		return fmt.Errorf("it opened at byte %d in place of the first one", opened.Offset)
	case opened.Offset != from && !begins:
		return errStale
	case from == 0 || begins:
		b.pos, b.total, l.validator, b.combined = 0, opened.Size, opened.Validator, false
		return nil
	case sized && b.total != opened.Size, !same && (!l.known || l.validator != "" && opened.Validator != ""):
		return errStale
	}
	if b.total < 0 {
		b.total, l.validator = opened.Size, opened.Validator
	}
	b.pos, b.combined = from, true
	return nil
}

// wrap implements opener.
func (l *locationOpener) wrap(b *body, err error) error {
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case b.pos > 0:
		return interrupted(l.at, b.pos, b.total, err)
	}
	if strings.Contains(err.Error(), l.at.String()) { // as errors of buckets and requests do
		return err
	}
	return fmt.Errorf("%s: %w", l.at, err)
}
