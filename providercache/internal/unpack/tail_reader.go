package unpack

import (
	"context"
	"io"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// place is a place among those who unpack. Its holder gives it back while he
// has nothing to do.
type Slot struct {
	gate   *par.Limit
	weight int64  // who has more to do goes first
	leave  func() // nil: it isn't held
}

func (p *Slot) take(ctx context.Context) (err error) {
	p.leave, err = p.gate.Acquire(ctx, p.weight)
	return err
}

func (p *Slot) give() {
	if p.leave != nil {
		p.leave()
		p.leave = nil
	}
}

// follower reads an archive while it is being received, behind the one who
// writes it to a file: a slow unpacker doesn't hold up the download, and while
// there is nothing to read another one may have the core.
type TailReader struct {
	ctx   context.Context
	file  io.ReaderAt
	mark  *par.Mark // how much has been written
	place *Slot
	pos   int64 // what has been read
	there int64 // what is known to have been written
}

// newFollower reads a file up to where mark is, in a slot of those who unpack.
func NewTailReader(ctx context.Context, file io.ReaderAt, mark *par.Mark, slots *par.Limit, weight int64) *TailReader {
	return &TailReader{ctx: ctx, file: file, mark: mark, place: &Slot{gate: slots, weight: weight}}
}

// Read implements io.Reader. The place is held when it returns without error.
func (f *TailReader) Read(p []byte) (int, error) {
	// Asked here too, because data that inflates to nothing never gets to
	// those who ask when they write.
	if f.ctx.Err() != nil {
		return 0, context.Cause(f.ctx)
	}
	if f.pos == f.there {
		if err := f.wait(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.ReadAt(p[:min(int64(len(p)), f.there-f.pos)], f.pos)
	f.pos += int64(n)
	return n, err
}

func (f *TailReader) wait() (err error) {
	f.there, err = f.mark.At()
	switch {
	case f.there > f.pos: // even if that is all there will be
		return nil
	case err != nil:
		return err
	}
	f.place.give()
	if f.there, err = f.mark.Beyond(f.ctx, f.pos); err != nil {
		return err
	}
	return f.place.take(f.ctx)
}
