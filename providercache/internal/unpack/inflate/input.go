package inflate

import (
	"bufio"
	"encoding/binary"
	"io"
)

// ahead is how many bytes of input have to be there for a symbol, or a length
// and a distance, to be decoded. It is more than they can have, because they are
// read 64 bits at a time, twice.
const ahead = 16

// input is what is decompressed.
type input struct {
	src *bufio.Reader
	in  []byte // what src has in its buffer; it is discarded there when it has been used
	cursor

	tail  [3 * ahead]byte // is in when src has less than ahead bytes: those, and zeros
	ended bool            // that is so
	real  int             // how many bytes of tail are src's
}

// cursor is where the input has been read up to. Bits are held ahead of what
// they are needed for.
type cursor struct {
	held uint64 // the lowest bit is the next one
	left uint   // how many of them count, less than 64; those above are the next bytes', or zero
	pos  int    // of the next byte
}

// fill makes it 56 bits, at least.
func (c cursor) fill(in []byte) cursor {
	c.held |= binary.LittleEndian.Uint64(in[c.pos:]) << (c.left & 63)
	c.pos += int(63-c.left) / 8
	c.left |= 56
	return c
}

// drop takes away the code that led to an entry.
func (c cursor) drop(e uint32) cursor {
	c.held >>= e & 15
	c.left -= uint(e & 15)
	return c
}

// value takes away a code and its extra bits, and returns what they stand for.
func (c cursor) value(e uint32) (cursor, int) {
	extra := e >> 8 & 15
	c.held >>= e & 15
	v := int(e>>16) + int(c.held&(1<<extra-1))
	c.held >>= extra
	c.left -= uint(e&15 + extra)
	return c, v
}

// more makes sure that there are ahead bytes.
func (i *input) more() error {
	if len(i.in)-i.pos >= ahead {
		return nil
	}
	if i.ended { // so much of tail is gone that not all of it can have been src's
		return io.ErrUnexpectedEOF
	}
	i.putBack()
	if _, err := i.src.Discard(i.pos); err != nil {
		return err
	}
	_, err := i.src.Peek(ahead)
	i.in, _ = i.src.Peek(i.src.Buffered())
	i.pos = 0
	if len(i.in) >= ahead {
		return nil
	}
	if err != io.EOF {
		return err
	}
	i.real, i.ended = copy(i.tail[:], i.in), true
	i.in = i.tail[:]
	return nil
}

// putBack makes the whole bytes that are held the next ones again.
func (i *input) putBack() {
	i.pos -= int(i.left / 8)
	i.left %= 8
	i.held &= 1<<i.left - 1
}

// peek returns the next bits, 56 of which are there.
func (i *input) peek() (uint64, error) {
	err := i.more()
	if err == nil {
		i.cursor = i.fill(i.in)
	}
	return i.held, err
}

// take reads bits, at most 56.
func (i *input) take(n uint) (uint64, error) {
	bits, err := i.peek()
	if err != nil {
		return 0, err
	}
	i.held >>= n
	i.left -= n
	return bits & (1<<n - 1), nil
}

// finish leaves what follows the stream to src.
func (i *input) finish() error {
	i.putBack()
	if i.ended && i.pos > i.real {
		return io.ErrUnexpectedEOF
	}
	_, err := i.src.Discard(i.pos)
	return err
}
