package unpack

import (
	"context"
	"io"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Slot is one of the slots for unpacking. Its holder releases it while it waits.
type Slot struct {
	gate   *par.Limit
	weight int64  // larger archives get a slot first
	leave  func() // nil: it isn't held
}

func (s *Slot) acquire(ctx context.Context) (err error) {
	s.leave, err = s.gate.Acquire(ctx, s.weight)
	return err
}

func (s *Slot) release() {
	if s.leave != nil {
		s.leave()
		s.leave = nil
	}
}

// TailReader reads an archive from its file while it is being downloaded: unpacking
// slowly doesn't hold up the download, and while there is nothing to read, another
// archive may be unpacked.
type TailReader struct {
	ctx   context.Context
	file  io.ReaderAt
	mark  *par.Mark // how much has been written
	slot  *Slot
	pos   int64 // what has been read
	there int64 // what is known to have been written
}

// NewTailReader reads a file up to the mark, and holds one of the slots for unpacking
// while it doesn't wait.
func NewTailReader(ctx context.Context, file io.ReaderAt, mark *par.Mark, slots *par.Limit, weight int64) *TailReader {
	return &TailReader{ctx: ctx, file: file, mark: mark, slot: &Slot{gate: slots, weight: weight}}
}

// Read implements io.Reader. The slot is held when it returns without error.
func (f *TailReader) Read(p []byte) (int, error) {
	// The context is checked here too, because data that inflates to nothing is
	// never written.
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
	f.slot.release()
	if f.there, err = f.mark.Beyond(f.ctx, f.pos); err != nil {
		return err
	}
	return f.slot.acquire(f.ctx)
}
