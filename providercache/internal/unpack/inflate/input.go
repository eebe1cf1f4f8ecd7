package inflate

import (
	"bufio"
	"encoding/binary"
	"io"
)

const (
	// ahead is how many bytes of input a round of decode may want, which are read 64 bits at a time, twice.
	ahead      = 16
	inputBytes = 16 << 10
	inputEnd   = inputBytes - ahead // up to there a round of decode may begin
	moreEnd    = inputEnd - 8       // up to there it may begin after 64 bits were taken
)

// input reads the compressed bytes, eight at a time.
type input struct {
	src *bufio.Reader
	// in has a copy of what src has in its buffer, its last byte last, so that where it ends is known when the program is
	// compiled. src discards what has been used.
	in    [inputBytes]byte
	first int // of the bytes of in that are the stream's

	// Bits are held ahead of what they are needed for.
	held uint64 // the lowest bit is the next one
	left uint64 // how many of them count, less than 64; those above are the next bytes', or zero
	pos  int    // of the next byte

	ended bool // src has no more, and zeros follow its last bytes
	end   int  // of the last bytes
}

// reset begins with what src has next.
func (i *input) reset(src *bufio.Reader) {
	i.src, i.first, i.pos, i.held, i.left, i.ended = src, inputBytes, inputBytes, 0, 0, false
}

// more makes sure that there are ahead bytes.
func (i *input) more() error {
	if i.pos <= moreEnd {
		return nil
	}
	if i.ended { // so many zeros are gone that not all of the others can have been src's
		return io.ErrUnexpectedEOF
	}
	if err := i.discard(); err != nil {
		return err
	}
	_, err := i.src.Peek(inputBytes - moreEnd)
	next, _ := i.src.Peek(min(i.src.Buffered(), inputBytes))
	if len(next) < inputBytes-moreEnd {
		if err != io.EOF {
			return err
		}
		i.ended, i.end = true, moreEnd-ahead
		clear(i.in[i.end:])
		i.first = i.end - len(next)
	} else {
		i.first = inputBytes - len(next)
	}
	i.pos = i.first
	copy(i.in[i.first:], next)
	return nil
}

// discard leaves to src what follows the bits that were used.
func (i *input) discard() error {
	i.putBack()
	_, err := i.src.Discard(i.pos - i.first)
	i.first = i.pos
	return err
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
		i.fill()
	}
	return i.held, err
}

// fill makes it 56 bits, at least. There have to be eight bytes.
func (i *input) fill() {
	i.held |= binary.LittleEndian.Uint64(i.in[i.pos:]) << (i.left & 63)
	i.pos += int(63-i.left) / 8
	i.left |= 56
}

// take reads bits, at most 56.
func (i *input) take(n uint64) (uint64, error) {
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
	if i.ended && i.pos > i.end {
		return io.ErrUnexpectedEOF
	}
	return i.discard()
}
